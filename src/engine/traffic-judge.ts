import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { GUARD_CODES } from "../diagnostics/guard-codes.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import { withParents } from "../syntax/parents.ts";
import type { AllowList } from "../transformations/allow.ts";
import { BrokenTraffic, type TrafficTerms } from "../transformations/broken-traffic.ts";
import { isValidRow } from "../transformations/own-blocks.ts";
import type { StageContext } from "../transformations/stage-context.ts";
import type { AskedNames } from "./compile-options.ts";
import type { NamedStage } from "./pipeline.ts";
import { type Plan, inverts } from "./plan.ts";
import { type ProtectedSet, waivedNames } from "./protected-names.ts";

/** Without the names that stay reachable in any case, and those that rules may block. */
export function judgedNames(
  asked: AskedNames,
  { config }: Plan,
  guarded: ProtectedSet,
  allow: AllowList,
): AskedNames {
  const mayBlock = new Set(waivedNames(config.guards?.may_block ?? []));
  const isKept = new Set(guarded.names);
  const names = Array.from(asked.names).filter(
    ([name]) =>
      !isKept.has(name) &&
      !allow.matchesName(name) &&
      !withParents(name).some((parent) => mayBlock.has(parent)),
  );
  return { ...asked, names: new Map(names) };
}

/** Judges the lines of a list by the names that clients asked for. */
export class TrafficJudge {
  private readonly asked: AskedNames;
  private readonly plan: Plan;
  private readonly broken: BrokenTraffic;

  constructor(
    asked: AskedNames,
    terms: Omit<TrafficTerms, "isTooMany">,
    plan: Plan,
    context: StageContext,
  ) {
    this.asked = asked;
    this.plan = plan;
    const isTooMany = (queries: number): boolean => asked.excess(queries) !== undefined;
    this.broken = new BrokenTraffic({ ...terms, isTooMany }, context);
  }

  stages(): NamedStage[] {
    const { validator } = this.plan.list;
    if (inverts(this.plan.list)) return [];
    const stage = this.broken.stage(
      validator && ((chunk, row) => isValidRow(chunk, row, validator)),
    );
    return [{ name: "breaks-traffic", stage }];
  }

  /** One for each source. The names stay in the log. */
  warnings(labels: readonly string[]): Diagnostic[] {
    return Array.from(this.broken.found, ([source, { names, queries }]) => {
      const subject = printable(labels[source] ?? "");
      const message = `${subject} would newly block ${numberText(queries)} of ${countText(this.asked.queries, "query", "queries")} in the log, for ${countText(names, "name")}; its lines that do so were dropped`;
      const cause = this.asked.excess(queries);
      const { hint } = GUARD_CODES["breaks-traffic"];
      return warningOf("breaks-traffic", message, { ...(cause && { cause }), hint, subject });
    });
  }
}
