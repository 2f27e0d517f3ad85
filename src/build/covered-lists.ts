import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { countText } from "../diagnostics/number-text.ts";
import { type Diagnostic, errorOf, warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { changedText, effectiveDiff, hasChange } from "../explain/effective-diff.ts";
import { PlainList, hostsOf } from "../explain/plain-list.ts";
import type { BuildContext } from "./build-context.ts";
import type { Verdict } from "./guards/check-guards.ts";
import type { ListPlan } from "./list-plan.ts";

const SHOWN = 3;
const EMPTY = new Uint8Array(0);

/** Checks whether the lists of a run cover the lists that they must cover. */
export class CoveredLists {
  private readonly hasPromises: boolean;
  private readonly texts = new Map<string, Uint8Array>();
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
    const own = await PlainList.read(text);
    const violations: Diagnostic[] = [];
    const warnings: Diagnostic[] = [];
    for (const name of covers.keys()) {
      const bytes = this.texts.get(name) ?? (await this.published(name));
      if (bytes === undefined) {
        const message = `Cannot tell whether ${printable(config.name)} covers ${printable(name)}: it is not published`;
        warnings.push(warningOf("cover-unknown", message));
        continue;
      }
      const other = await PlainList.read(bytes);
      const { added, patterns, ...first } = effectiveDiff(other, own);
      let { freed, changes } = first;
      const unsure = [
        ...patterns.filter((rule) => other.texts.has(rule) && !rule.startsWith("@@")),
        // An exception by pattern may free names that neither list has.
        ...added.filter((rule) => rule.startsWith("@@") && hostsOf(rule).isPattern),
      ];
      if (freed === 0 && unsure.length > 0) {
        warnings.push(notExact(config.name, name, unsure));
        ({ freed, changes } = effectiveDiff(other, own, await this.namesOfAll()));
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

  /** Names of all lists in the run, which test regular expressions. Unchanged lists contribute their published names. */
  private async namesOfAll(): Promise<ReadonlySet<string>> {
    const names = new Set<string>();
    const texts = [...this.texts.values()];
    for (const name of this.unchanged) texts.push((await this.published(name)) ?? EMPTY);
    for (const bytes of texts)
      for (const name of (await PlainList.read(bytes)).names()) names.add(name);
    return names;
  }

  private async published(name: string): Promise<Uint8Array | undefined> {
    const { host } = this.context;
    const path = this.paths.get(name);
    return path !== undefined && (await host.exists(path)) ? await host.readFile(path) : undefined;
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
