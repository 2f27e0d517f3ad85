import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { equalBytes } from "../bytes/search.ts";
import { countText } from "../diagnostics/number-text.ts";
import { type Diagnostic, errorOf, warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { ListComparison, changedText, hasChange } from "../explain/effective-diff.ts";
import { PlainList } from "../explain/plain-list.ts";
import { unsureExceptions } from "../explain/unsure-exceptions.ts";
import type { BuildContext } from "./build-context.ts";
import type { Verdict } from "./guards/check-guards.ts";
import type { ListPlan } from "./list-plan.ts";

const SHOWN = 3;
const EMPTY = new Uint8Array(0);
/** Lists that are held after they were read: mostly, a list is compared with the one before it and the one after it. */
const HELD = 3;

/** Checks whether the lists of a run cover the lists that they must cover. */
export class CoveredLists {
  private readonly hasPromises: boolean;
  private readonly texts = new Map<string, Uint8Array>();
  /** The lists that were read last, by name. */
  private readonly held = new Map<
    string,
    { readonly bytes: Uint8Array; readonly list: PlainList }
  >();
  /** The names of the lists in `named`. */
  private readonly names = new Set<string>();
  private readonly named = new Set<string>();
  private readonly context: BuildContext;
  /** Paths of the published lists of the run, by name. */
  private readonly paths: ReadonlyMap<string, string | undefined>;
  /** Names of lists that were not compiled, because they did not change. */
  readonly unchanged: Set<string> = new Set();

  constructor(plans: readonly ListPlan[], context: BuildContext) {
    this.hasPromises = plans.some(({ covers }) => covers.size > 0);
    this.context = context;
    this.paths = new Map([
      ...plans.map(({ list, files }) => [list.config.name, files[0]?.path] as const),
      ...plans.flatMap(({ covers }) => [...covers]),
    ]);
  }

  /** A buffer for the text of a list, if any lists are compared. The names of all lists test expressions. */
  buffer(): ByteBuffer | undefined {
    return this.hasPromises ? new ByteBuffer() : undefined;
  }

  /** Adds a list that will be published. If a list is not added, its published version is compared. */
  add({ list }: ListPlan, text: Uint8Array): void {
    this.texts.set(list.config.name, text);
  }

  /** Checks whether a list blocks every name that its covered lists block. */
  async check({ list, covers }: ListPlan, text: Uint8Array): Promise<Verdict> {
    const { accept } = this.context.options;
    if (covers.size === 0 || accept.includes("not-covered"))
      return { violations: [], warnings: [] };
    const { config } = list;
    const own = await this.read(config.name, text);
    const violations: Diagnostic[] = [];
    const warnings: Diagnostic[] = [];
    for (const name of covers.keys()) {
      const bytes = this.texts.get(name) ?? (await this.published(name));
      if (bytes === undefined) {
        const message = `Cannot tell whether ${printable(config.name)} covers ${printable(name)}: it is not published`;
        warnings.push(warningOf("cover-unknown", message));
        continue;
      }
      const other = await this.read(name, bytes);
      const comparison = new ListComparison(other, own, true);
      const { added, patterns, ...first } = comparison.difference();
      let { freed, changes } = first;
      const { byPattern, forSome } = unsureExceptions(added, other, own);
      const unsure = [
        ...patterns.filter((rule) => other.texts.has(rule) && !rule.startsWith("@@")),
        ...byPattern,
      ];
      if (forSome.length > 0) warnings.push(notForAll(config.name, name, forSome));
      if (freed === 0 && unsure.length > 0) {
        warnings.push(notExact(config.name, name, unsure));
        ({ freed, changes } = comparison.difference(await this.namesOfAll()));
      }
      if (freed === 0) continue;
      const examples = changes
        .filter((change) => hasChange(change, "freed"))
        .slice(0, SHOWN)
        .map((change) => changedText(change, "freed", (shown) => printable(shown, 80)));
      const message = `${printable(config.name)} does not block ${countText(freed, "name")} that ${printable(name)} blocks: ${examples.join(", ")}${freed > SHOWN ? " …" : ""}`;
      violations.push(errorOf("not-covered", message));
    }
    return { violations, warnings };
  }

  /** Reads a list, unless it is one of the last that were read. */
  private async read(name: string, bytes: Uint8Array): Promise<PlainList> {
    const known = this.held.get(name);
    this.held.delete(name);
    const isKnown = known !== undefined && equalBytes(known.bytes, bytes);
    const list = isKnown ? known.list : await PlainList.read(bytes);
    this.held.set(name, { bytes, list });
    if (this.held.size > HELD) this.held.delete(this.held.keys().next().value!);
    return list;
  }

  /** Names of all lists in the run, which test regular expressions. Unchanged lists contribute their published names. */
  private async namesOfAll(): Promise<ReadonlySet<string>> {
    for (const name of [...this.texts.keys(), ...this.unchanged]) {
      if (this.named.has(name)) continue;
      this.named.add(name);
      const bytes = this.texts.get(name) ?? (await this.published(name)) ?? EMPTY;
      for (const one of (await this.read(name, bytes)).names()) this.names.add(one);
    }
    return this.names;
  }

  private async published(name: string): Promise<Uint8Array | undefined> {
    const { host } = this.context;
    const path = this.paths.get(name);
    return path !== undefined && (await host.exists(path)) ? await host.readFile(path) : undefined;
  }
}

function notForAll(list: string, covered: string, exceptions: readonly string[]): Diagnostic {
  const [first] = exceptions;
  const more = exceptions.length > 1 ? ` and ${countText(exceptions.length - 1, "other")}` : "";
  const message = `${printable(list)} does not cover ${printable(covered)} for some clients or query types: ${printable(first!, 60)}${more}`;
  return warningOf("cover-unknown", message, {
    hint: "If this is not intended, remove the exception, or add it to both lists",
  });
}

function notExact(list: string, covered: string, patterns: readonly string[]): Diagnostic {
  const [first] = patterns;
  const more = patterns.length > 1 ? ` and ${countText(patterns.length - 1, "other")}` : "";
  const message = `${printable(list)} may not cover ${printable(covered)}: ${printable(first!, 60)}${more} cannot be compared exactly`;
  return warningOf("cover-unknown", message, {
    hint: "The names of all lists in this run were compared instead. To be sure, add the expression to both lists",
  });
}
