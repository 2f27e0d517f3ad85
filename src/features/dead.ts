import { type Diagnostic, warningOf } from "../diagnostics/render.ts";
import { someOf } from "../diagnostics/text.ts";
import {
  type FeatureResult,
  type FeatureRun,
  type ListFeature,
  type ListWork,
  type SourceRun,
  stageNamed,
} from "../engine/feature.ts";
import type { PlannedSource } from "../engine/plan.ts";
import { OBSERVATIONS_FILE, Observations, dayOf } from "../liveness/observations.ts";
import { Verdicts } from "../liveness/verdict.ts";
import { namesOfRow } from "../meaning/line.ts";
import { type Chunk, Flag, Kind } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { transformationRegistry } from "../transformations/registry.ts";
import { RuleStage, type StageContext } from "../transformations/stage.ts";

/** Drops lines for dead names, of sources with `dead: drop`, by what `alive` has seen. It sends no question. */
export const dead: ListFeature = {
  name: "dead",
  open: (list) =>
    list.plan.sources.some(({ dropsDead }) => dropsDead) ? new DeadNames(list) : undefined,
};

class DeadNames implements FeatureRun {
  private readonly list: ListWork;
  private verdicts: Verdicts | undefined;
  private isFresh = false;

  constructor(list: ListWork) {
    this.list = list;
  }

  async fetch(): Promise<void> {
    const { options, host, reader } = this.list;
    const path = host.path.join(options.configFolder ?? host.cwd, OBSERVATIONS_FILE);
    const observations = await Observations.read(path, host);
    this.verdicts = new Verdicts(observations, dayOf(reader.now));
    this.isFresh = this.verdicts.isFresh;
  }

  source(source: PlannedSource): SourceRun | undefined {
    const { list, verdicts } = this;
    const { passes } = source;
    // Where rules become exceptions, a line says which names are not blocked.
    if (!source.dropsDead || verdicts === undefined || source.isInverted) return undefined;
    const isWidened = [passes, list.plan.list].some(({ steps }) =>
      steps.some(({ name }) => name === "Compress" || !transformationRegistry.has(name)),
    );
    const stage = new DroppingDead(verdicts, isWidened, list.context);
    return { trusted: stageNamed("dead", stage) };
  }

  result(): FeatureResult {
    const { plan } = this.list;
    if (this.isFresh) return {};
    const labels = plan.sources.flatMap(({ dropsDead, label }) => (dropsDead ? [label] : []));
    const message = `The lines of ${someOf(labels)} stay: their names were not asked about lately`;
    const warning: Diagnostic = warningOf("no-observations", message);
    return { diagnostics: [warning] };
  }
}

/** Drops rules for dead names. Exceptions, patterns and rules with modifiers stay. */
class DroppingDead extends RuleStage {
  protected readonly keepsOrdinary = false;
  private readonly verdicts: Verdicts;
  /** Whether later stages may make rules for single names cover the names below. */
  private readonly isWidened: boolean;

  constructor(verdicts: Verdicts, isWidened: boolean, context: StageContext) {
    super(context);
    this.verdicts = verdicts;
    this.isWidened = isWidened;
  }

  protected judge(chunk: Chunk, row: number): boolean {
    const kind = chunk.kind[row]!;
    const flags = chunk.flags[row]!;
    if (kind < Kind.Hosts || kind === Kind.Rule) return true;
    if ((flags & (Flag.Allow | Flag.Generated | Flag.RealAddress)) !== 0) return true;
    const isSubtree = this.isWidened || kind === Kind.Block || (flags & Flag.AsBlock) !== 0;
    // A hosts line goes when all its names are dead.
    for (const name of namesOfRow(chunk, row))
      if (this.verdicts.ofRule(name, isSubtree).state !== "dead") return true;
    chunk.drop(row, Fate.Dead);
    return false;
  }
}
