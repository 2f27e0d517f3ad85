import { decodeUtf8 } from "../bytes/utf8.ts";
import type { Host } from "../host/host.ts";
import { ifAvailable } from "../host/if-available.ts";
import type { SourceHistory } from "./ledger-state.ts";
import { readSketch, sketchText } from "./name-sketch.ts";
import { freshSalt } from "./source-gauge.ts";
import type { SourceLedger } from "./source-ledger.ts";
import { type StoredFile, isStoredFile } from "./source-store.ts";

/** What is published about a source beside the list: the baseline where the ledger is lost. */
export interface PublishedSource {
  readonly name: string;
  /** Its key in the ledger. */
  readonly key: string;
  /** Number of names. */
  readonly names: number;
  /** How it was read, and since when. */
  readonly state: string;
  readonly since: string;
  readonly files: readonly Pick<StoredFile, "key" | "sha256" | "size">[];
  /** A sample of its names. */
  readonly sketch: string;
  /** How many names that people need it blocks, by kind. */
  readonly kinds?: Readonly<Record<string, number>> | undefined;
}

/** `my-list.txt` has `my-list.sources.json` beside it. */
export function sourcesPath(list: string): string {
  return `${list.replace(/\.txt$/, "")}.sources.json`;
}

/** The file of sources, as JSON. Of a source that was not read, the text stays as it was in `before`. */
export function sourcesText(
  list: string,
  sources: readonly Pick<PublishedSource, "key" | "state" | "kinds">[],
  {
    ledger,
    before,
  }: { readonly ledger: SourceLedger; readonly before: readonly PublishedSource[] },
): string {
  const found = sources.flatMap(({ key, state, kinds }): PublishedSource[] => {
    const taken = ledger.takenOf(key);
    if (taken?.measure === undefined)
      return before
        .filter((one) => one.key === key)
        .map((one) => (one.state === state ? one : { ...one, state, since: dayOf(ledger.now) }));
    const { label: name, measure } = taken;
    const files = taken.files.map(({ key: id, sha256, size }) => ({ key: id, sha256, size }));
    const since = dayOf(ledger.sinceOf(key));
    const sketch = sketchText(measure.open);
    return [{ name, key, names: measure.entries, state, since, files, sketch, kinds }];
  });
  return `${JSON.stringify({ version: 1, list, sources: found }, undefined, 1)}\n`;
}

function dayOf(moment: number): string {
  return new Date(moment).toISOString().slice(0, "2026-11-01".length);
}

/** The sources in such a file; undefined if it cannot be read. Each one is checked, because other programs may have changed it. */
export async function readSources(
  path: string,
  host: Pick<Host, "readFile">,
): Promise<PublishedSource[] | undefined> {
  const bytes = await ifAvailable(() => host.readFile(path));
  return bytes && sourcesIn(decodeUtf8(bytes));
}

function sourcesIn(text: string): PublishedSource[] {
  try {
    const { version, sources } = JSON.parse(text) as { version?: unknown; sources?: unknown };
    return version === 1 && Array.isArray(sources) ? sources.filter(isSource) : [];
  } catch {
    return [];
  }
}

function isSource(source: Partial<PublishedSource> | null): source is PublishedSource {
  const { name, key, names, since, files, sketch, kinds = {} } = source ?? {};
  return (
    typeof kinds === "object" &&
    (kinds as object | null) !== null &&
    typeof name === "string" &&
    typeof key === "string" &&
    typeof names === "number" &&
    !Number.isNaN(Date.parse(since ?? "")) &&
    Array.isArray(files) &&
    files.every((file: object | null) => isStoredFile({ validators: {}, ...file })) &&
    readSketch(sketch) !== undefined
  );
}

/** The history that a published source gives. */
export function historyOf(source: PublishedSource, now: number): SourceHistory {
  const at = Math.min(now, Date.parse(source.since));
  const { name, names, files } = source;
  return {
    name,
    salt: freshSalt(),
    files: files.map((file) => ({ ...file, validators: {} })),
    texts: [{ names, sketch: readSketch(source.sketch)!, at, isOpen: true }],
    steps: [],
    seenAt: now,
  };
}
