import { HostError, type Host } from "../host/host.ts";
import { FreedNames } from "../meaning/freed-names.ts";
import { namesOfLine } from "../meaning/line.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { textOf } from "../rules/row-text.ts";
import type { RemoteSource } from "../sources/acquire.ts";
import type { FreedNow } from "../sources/freed-budget.ts";
import type { SourceList } from "../sources/source-list.ts";
import type { LineFilter } from "../transformations/line-filter.ts";
import { readList } from "./blocked-in.ts";
import type { Engine } from "./engine.ts";
import { EntrySink, allowListOf, filterOf } from "./filter-entries.ts";
import type { CompileOptions } from "./compile-options.ts";
import type { SourceOptions } from "./source-options.ts";

type FreeingRole = "allow" | "exclusions" | "protect";

/** Finds what a file of names frees; undefined for any other, and for one that no published list depends on. */
export function freeingOf(
  { source, role }: SourceOptions,
  listsWith: CompileOptions["listsWith"],
  { host, engineOf }: { readonly host: Host; readonly engineOf: () => Engine },
): RemoteSource["frees"] {
  if (role !== "allow" && role !== "exclusions" && role !== "protect") return undefined;
  const lists = listsWith?.(source) ?? [];
  if (lists.length === 0) return undefined;
  return async (offer, published) =>
    await freedByFile(role, { offer, published }, lists, { host, engine: engineOf() });
}

/** The names of published lists that a file would free by entries which its published text lacks. */
async function freedByFile(
  role: FreeingRole,
  { offer, published }: { readonly offer: SourceList; readonly published: SourceList | undefined },
  lists: readonly string[],
  { host, engine }: { readonly host: Host; readonly engine: Engine },
): Promise<FreedNow> {
  const now = await entriesOf(offer, engine);
  const before = published && (await entriesOf(published, engine));
  const known = new Set(before?.entries.map(({ text }) => text));
  const fresh = new EntrySink(true, engine);
  for (const entry of now.entries) if (!known.has(entry.text)) fresh.entries.push(entry);
  const names = new Set<string>();
  let of = 0;
  if (fresh.entries.length === 0) return { names: [], of };
  for (const path of lists) {
    const judge = role === "exclusions" ? await excluded(fresh) : allowed(fresh);
    try {
      await readList(path, (chunk) => judge.take(chunk), host, engine);
    } catch (error) {
      // It is not published yet.
      if (error instanceof HostError) continue;
      throw error;
    }
    const found = judge.result();
    of = Math.max(of, found.of);
    for (const name of found.names) names.add(name);
  }
  return { names: [...names], of };
}

interface FreedJudge {
  take(chunk: Chunk): void;
  result(): FreedNow;
}

/** Names that an allow-list frees: also those below a blocked name, and those of important rules. */
function allowed(entries: EntrySink): FreedJudge {
  const freed = new FreedNames({ freesImportant: true });
  for (const { entry } of allowListOf([], [entries]).value.uses) freed.addScope(0, entry);
  return {
    take: (chunk) => freed.take(chunk, 1),
    result() {
      const [found] = freed.results();
      return { names: found?.freed ?? [], of: found?.names ?? 0 };
    },
  };
}

/** Names whose lines are excluded. Sources may write them in another syntax than the list. */
async function excluded(entries: EntrySink): Promise<FreedJudge> {
  const { value: filter } = await filterOf([], [entries], false);
  const names = new Set<string>();
  let of = 0;
  return {
    take(chunk) {
      for (let row = 0; row < chunk.length; row++) {
        if (chunk.fate[row] !== Fate.Kept || chunk.kind[row]! < Kind.Hosts) continue;
        if ((chunk.flags[row]! & Flag.Allow) !== 0) continue;
        const text = textOf(chunk, row);
        for (const name of namesOfLine(text)) {
          of++;
          if (matchesAny(filter, text, name)) names.add(name);
        }
      }
    },
    result: () => ({ names: [...names], of }),
  };
}

function matchesAny(filter: LineFilter, text: string, name: string): boolean {
  const forms = [text, `0.0.0.0 ${name}`, `127.0.0.1 ${name}`, name];
  return forms.some((line) => filter.matchesLine(line));
}

async function entriesOf(list: SourceList, engine: Engine): Promise<EntrySink> {
  const sink = new EntrySink(true, engine);
  await list.readAhead(sink);
  sink.end();
  return sink;
}
