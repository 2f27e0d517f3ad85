import { type Diagnostic, warningOf } from "../../diagnostics/diagnostic.ts";
import { momentText } from "../../diagnostics/moment-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import { shellWord } from "../../diagnostics/shell-word.ts";
import type { CompileReport } from "../../engine/report.ts";
import { type Host, HostError } from "../../host/host.ts";
import type { StateFile } from "../../host/state-file.ts";
import { stateOf } from "../../record/record-folder.ts";
import type { ProjectOptions } from "../build-options.ts";
import type { WrittenFile } from "./build-cache.ts";

/** A list that stays at a build until the hold ends. */
export interface Hold {
  readonly version: 1;
  /** When it was held. */
  readonly at: string;
  readonly by: string;
  /** When the build was made. */
  readonly of: string;
  readonly report: CompileReport;
  readonly written: readonly WrittenFile[];
  /** Names of all its files. */
  readonly files: readonly string[];
}

/** With a damaged file, the list stays held: publishing could undo a rollback. */
export type FoundHold = Hold | "damaged";

function fileOf(list: string, host: Host): StateFile<Hold> {
  return stateOf(list, "hold.json", isHold, host);
}

/** Undefined if the list is not held. */
export async function readHold(list: string, host: Host): Promise<FoundHold | undefined> {
  const found = await fileOf(list, host).look();
  return found === "missing" ? undefined : found;
}

/** Rejects with a `HostError`. */
export async function writeHold(list: string, hold: Hold, host: Host): Promise<void> {
  await fileOf(list, host).replace(hold);
}

/** Rejects with a `HostError`. */
export async function removeHold(list: string, host: Host): Promise<void> {
  await host.removeFile(fileOf(list, host).path).catch((error: unknown) => {
    if (!(error instanceof HostError) || error.code !== "ENOENT") throw error;
  });
}

/** `My list is held at the build of …`. */
export function holdText(list: string, hold: FoundHold): string {
  const name = printable(list);
  if (hold === "damaged") return `${name} is held; its state cannot be read`;
  const since = `since ${momentText(hold.at)} by ${printable(hold.by, 60)}`;
  return `${name} is held at the build of ${momentText(hold.of)}, ${since}`;
}

/** What a run says that publishes nothing. */
export function heldWarning(
  { list, end }: { readonly list: string; readonly end: string },
  hold: FoundHold,
): Diagnostic {
  return warningOf("list-held", `${holdText(list, hold)}; nothing was published`, {
    hint: `To publish again: ${end}`,
    subject: printable(list),
  });
}

/** The options of a run that another command must repeat to find the same list. */
export type ListPlace = Pick<ProjectOptions, "configPath" | "isFound" | "output">;

/** A command that holds a list or ends the hold; of several lists, it names the one. */
export function holdCommandLine(
  command: "hold" | "hold --end",
  list: string | undefined,
  { configPath = "", isFound = false, output }: Partial<ListPlace> = {},
): string {
  const flags = [
    ["-c", isFound ? "" : configPath],
    ["-o", output ?? ""],
    ["--filter", list ?? ""],
  ] as const;
  const named = flags.filter(([, value]) => value !== "");
  const words = named.flatMap(([flag, value]) => [flag, shellWord(printable(value, 4096))]);
  return [`rules-compiler ${command}`, ...words].join(" ");
}

/** A hold in a document; null where the state is damaged. */
export interface HoldFacts {
  /** When the list was held, by whom, and when its build was made. */
  readonly since: string | null;
  readonly by: string | null;
  readonly build: string | null;
}

export function holdFacts(hold: FoundHold): HoldFacts {
  if (hold === "damaged") return { since: null, by: null, build: null };
  return { since: hold.at, by: hold.by, build: hold.of };
}

function isHold(value: unknown): value is Hold {
  const { version, at, by, of, report, written, files } = (value ?? {}) as Partial<Hold>;
  const isDated = [at, of].every((moment) => !Number.isNaN(Date.parse(moment ?? "")));
  const isListed = [report?.sources, written, files].every(Array.isArray);
  return version === 1 && isDated && typeof by === "string" && isListed;
}
