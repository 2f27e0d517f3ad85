import { equalBytes } from "../bytes/search.ts";
import { CompilerError } from "../diagnostics/diagnostic.ts";
import type { FileChange } from "../explain/list-change.ts";
import type { Host } from "../host/host.ts";
import { shadowHost } from "../host/shadow-host.ts";
import { planOutputs } from "../publish/output-plan.ts";
import { type TrialDraft, fileChanges, publishTrial } from "./planned-files.ts";
import type { WholeBuild } from "./state/kept-draft.ts";

/** A kept build was published, whatever guards said. */
const ACCEPTED = ["blocks-protected", "empty-output", "too-few-rules"];

interface Place {
  /** The name of the list's file. */
  readonly name: string;
  readonly rulesDir: string;
}

/** The files that differ between two kept builds. Both are written again in memory, under other names. */
export async function changedFiles(
  before: WholeBuild,
  after: WholeBuild,
  place: Place,
  host: Host,
): Promise<FileChange[]> {
  if (isAlike(before, after)) return [];
  const old = shadowHost(host);
  const fresh = shadowHost(old);
  try {
    await publishTrial(trialOf(before, place, host), place.rulesDir, old);
    const trial = trialOf(after, place, host);
    const { written } = await publishTrial(trial, place.rulesDir, fresh);
    return await fileChanges(written, trial.outputs, old, fresh);
  } catch (error) {
    // Formats of plugins cannot be written again.
    if (error instanceof CompilerError) return [];
    throw error;
  }
}

function isAlike(before: WholeBuild, after: WholeBuild): boolean {
  const [old, fresh] = [before, after].map(({ draft }) =>
    JSON.stringify([draft.config.outputs, draft.shape]),
  );
  return (
    equalBytes(before.list, after.list) &&
    equalBytes(before.covered, after.covered) &&
    old === fresh
  );
}

/** Outputs of two configurations are compared in the order of their formats, whatever their names are. */
function trialOf(
  { draft, header, list, covered }: WholeBuild,
  { name, rulesDir }: Place,
  host: Host,
): TrialDraft {
  const folder = host.path.resolve(host.cwd, rulesDir, ".compared");
  const seen = new Map<string, number>();
  const outputs = planOutputs(draft.config, { folder: rulesDir, host }).map((output) => {
    const number = (seen.get(output.formatName) ?? 0) + 1;
    seen.set(output.formatName, number);
    const path = host.path.join(folder, `${output.formatName}-${number}`);
    return { ...output, path, allowPath: `${path}.allow` };
  });
  return {
    ...draft,
    files: [{ name, path: host.path.join(folder, "list") }],
    outputs,
    builtAt: new Date(header.builtAt),
    list,
    covered,
    accept: ACCEPTED,
    folder: host.cwd,
  };
}
