import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { countText } from "../diagnostics/number-text.ts";
import { type Diagnostic, errorOf, warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { effectiveDiff } from "../explain/effective-diff.ts";
import { PlainList } from "../explain/plain-list.ts";
import type { Host } from "../host/host.ts";
import type { ListInPlace } from "./config-of.ts";
import { listFiles } from "./list-files.ts";
import type { Options } from "./flags/options.ts";

const SHOWN = 3;
const EMPTY = new Uint8Array(0);

/** Lists of a run that others must cover, and whether they do. */
export class CoveredLists {
  private readonly hasPromises: boolean;
  private readonly texts = new Map<string, Uint8Array>();
  private readonly host: Host;
  /** Names of lists that were not compiled, because nothing changed. */
  readonly unchanged: Set<string> = new Set();

  constructor(lists: readonly ListInPlace[], host: Host) {
    this.hasPromises = lists.some(({ covers }) => covers.length > 0);
    this.host = host;
  }

  /** What a list's text has to be gathered in, if lists are compared: names of all lists tell expressions apart. */
  buffer(): ByteBuffer | undefined {
    return this.hasPromises ? new ByteBuffer() : undefined;
  }

  /** The list as it will be published. One that is not is compared with as it was. */
  add({ config }: ListInPlace, text: Uint8Array): void {
    this.texts.set(config.name, text);
  }

  /** Why the list may not be published: it does not block all that it must. */
  async refusals(
    { config, covers }: ListInPlace,
    text: Uint8Array,
    options: Options,
  ): Promise<{ refused: readonly Diagnostic[]; warnings: readonly Diagnostic[] }> {
    if (covers.length === 0 || options.accept.includes("not-covered"))
      return { refused: [], warnings: [] };
    const own = await PlainList.read(text);
    const refused: Diagnostic[] = [];
    const warnings: Diagnostic[] = [];
    for (const name of covers) {
      const bytes = this.texts.get(name) ?? (await this.published(name, options));
      if (bytes === undefined) {
        const message = `Cannot check whether ${printable(config.name)} covers ${printable(name)}`;
        warnings.push(warningOf("cover-unknown", message));
        continue;
      }
      const other = await PlainList.read(bytes);
      let { freed, changes, patterns } = effectiveDiff(other, own);
      const unsure = patterns.filter((rule) => other.texts.has(rule) && !rule.startsWith("@@"));
      if (freed === 0 && unsure.length > 0) {
        warnings.push(notExact(config.name, name, unsure));
        ({ freed, changes } = effectiveDiff(other, own, await this.namesOfAll(options)));
      }
      if (freed === 0) continue;
      const examples = changes
        .filter(({ self, below }) => (self ?? below) === "freed")
        .slice(0, SHOWN)
        .map((change) => printable(change.name, 80));
      const message = `${printable(config.name)} does not block ${countText(freed, "name")} that ${printable(name)} blocks: ${examples.join(", ")}${freed > SHOWN ? " …" : ""}`;
      refused.push(errorOf("not-covered", message));
    }
    return { refused, warnings };
  }

  /** Where the lists are published that a list must cover. */
  paths({ covers }: ListInPlace, options: Options): string[] {
    return covers.flatMap((name) => listFiles(name, options, this.host)).map(({ path }) => path);
  }

  /** Names of all lists of the run: regular expressions are compared by them. Those that did not change are as they were published. */
  private async namesOfAll(options: Options): Promise<ReadonlySet<string>> {
    const names = new Set<string>();
    const texts = [...this.texts.values()];
    for (const name of this.unchanged) texts.push((await this.published(name, options)) ?? EMPTY);
    for (const bytes of texts)
      for (const name of (await PlainList.read(bytes)).names()) names.add(name);
    return names;
  }

  private async published(name: string, options: Options): Promise<Uint8Array | undefined> {
    const [file] = listFiles(name, options, this.host);
    return file !== undefined && (await this.host.exists(file.path))
      ? await this.host.readFile(file.path)
      : undefined;
  }
}

function notExact(list: string, covered: string, patterns: readonly string[]): Diagnostic {
  const [first] = patterns;
  const more = patterns.length > 1 ? ` and ${countText(patterns.length - 1, "other")}` : "";
  const message = `${printable(list)} may not cover ${printable(covered)}: ${printable(first!, 60)}${more} cannot be compared exactly`;
  return warningOf("cover-unknown", message, {
    hint: "The names of all lists in this run were compared instead. To be sure, add the expression to both lists",
  });
}
