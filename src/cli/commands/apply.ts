import { artifactPlans } from "../../publish/artifact-plan.ts";
import { isFlawless } from "../../engine/report.ts";
import { scratchOf } from "../../engine/scratch.ts";
import { Exit } from "../../diagnostics/exit.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { NameSpool } from "../../formats/name-spool.ts";
import type { Host } from "../../host/host.ts";
import { saveLock } from "../lock-in-place.ts";
import { Outputs } from "../outputs.ts";
import { publishList } from "../publish-list.ts";
import { type SavedPlan, digestAt, readPlan } from "../saved-plan.ts";
import { sayResult } from "../output/say-result.ts";
import { playTape } from "../spool-tape.ts";
import type { Command } from "./registry.ts";

/** Publishes what `plan --save` saved: those bytes, in place of the list that they were compared with. */
export const applyCommand: Command = async (options, host, talk, signal) => {
  const [path, ...more] = options.args.operands;
  if (path === undefined || more.length > 0)
    throw new CompilerError([
      errorOf("unknown-flag", "apply needs a plan", {
        hint: "Such as: plan --save my.plan, and then: apply my.plan",
      }),
    ]);
  const started = host.now().getTime();
  const { plan, bytes } = await readPlan(path, host);
  const accept: readonly string[] = options.accept;
  const refused = plan.refused.filter(({ code }) => !accept.includes(code));
  if (refused.length > 0) throw new CompilerError(refused);
  for (const warning of plan.warnings) talk.diagnostic(warning);
  const outputs = new Outputs(plan.files, { keepsRecord: true, isToStdout: false }, host);
  // What is covered was kept only if it is needed.
  const spool = new NameSpool(() => scratchOf(host), false);
  try {
    await outputs.open();
    // Now that no other run can publish.
    await refuseIfOutdated(plan, host);
    outputs.write(bytes.list);
    outputs.writeRecord(bytes.frames);
    signal.throwIfAborted();
    const { config, shape, folder, record, report, rulesDir } = plan;
    const artifacts = artifactPlans(config, rulesDir, host);
    if (artifacts.length > 0) playTape(plan.runs, bytes, spool);
    const publication = {
      config,
      artifacts,
      spool: artifacts.length === 0 ? undefined : spool,
      shape,
      accept,
      builtAt: new Date(record.builtAt),
      timelessHead: plan.timelessHead,
      sources: report.sources.map(({ label }) => label),
      configFolder: folder,
      rulesDir,
    };
    const { written, names } = await publishList(outputs, publication, host);
    await outputs.remember(plan.report, plan.remembering, plan.record);
    await saveLock(plan.folder, plan.lock, host, talk);
    const seconds = (host.now().getTime() - started) / 1000;
    const answer = { report: plan.report, diagnostics: plan.warnings, files: names };
    await sayResult(answer, written, seconds, bytes.list.at(-1), options, host, talk);
    return options.strict && !isFlawless(plan.report) ? Exit.Degraded : Exit.Done;
  } finally {
    spool.close();
    await outputs.close();
  }
};

async function refuseIfOutdated({ files }: SavedPlan, host: Host): Promise<void> {
  for (const { name, path, was } of files)
    if ((await digestAt(path, host)) !== was)
      throw new CompilerError([
        errorOf("plan-outdated", `${printable(name)} is not the list that was planned for`),
      ]);
}
