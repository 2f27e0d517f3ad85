import { publishedExceptions } from "../../build/published-exceptions.ts";
import { Exit } from "../../diagnostics/exit.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { type ListState, listChange } from "../../explain/list-change.ts";
import type { Host } from "../../host/host.ts";
import { changeExit } from "../change-exit.ts";
import { changeJson } from "../output/change-text.ts";
import { compileAside } from "../compile-aside.ts";
import { type ListInPlace, configOf, listsInPlace } from "../config-of.ts";
import { CoveredLists } from "../covered-lists.ts";
import { buildAt } from "../last-build.ts";
import { listFiles } from "../list-files.ts";
import type { Options } from "../flags/options.ts";
import { planMarkdown, planText } from "../output/plan-text.ts";
import { guardLimits } from "../../build/guards/guard.ts";
import { guardsSay } from "../guards-say.ts";
import { digestAt, savePlan } from "../saved-plan.ts";
import { sendToOutput } from "../output/send-to-output.ts";
import { showText } from "../output/show-text.ts";
import type { Talk } from "../output/talk.ts";
import type { Command } from "./registry.ts";

/** What the next publish would change, and whether a guard would refuse it. Nothing is published. */
export const planCommand: Command = async (options, host, talk, signal) => {
  const isSaved = options.args.values.has("save");
  // What is saved is one list; otherwise every list has a plan of its own.
  const lists = isSaved
    ? [await configOf(options, host, talk)]
    : await listsInPlace(options, host, talk);
  const exits: Exit[] = [];
  const covers = new CoveredLists(lists, host);
  const documents: object[] = [];
  for (const list of lists)
    exits.push(await planOf(list, { covers, documents }, options, host, talk, signal));
  const [first] = documents;
  if (first !== undefined)
    await sendToOutput(
      `${JSON.stringify(lists.length === 1 ? first : { lists: documents })}\n`,
      host,
    );
  const worst = [Exit.Guard, Exit.Changes].find((exit) => exits.includes(exit));
  return worst ?? Exit.Done;
};

async function planOf(
  configured: ListInPlace,
  { covers, documents }: { readonly covers: CoveredLists; readonly documents: object[] },
  options: Options,
  host: Host,
  talk: Talk,
  signal: AbortSignal,
): Promise<Exit> {
  const files = listFiles(configured.config.name, options, host);
  const [output] = files;
  if (output === undefined)
    throw new CompilerError([errorOf("unknown-flag", "plan compares with a file; leave -o - out")]);
  const was = await Promise.all(files.map(({ path }) => digestAt(path, host)));
  const old = await publishedState(output.path, host);
  const published = async (): ReturnType<typeof publishedExceptions> =>
    await publishedExceptions(output.path, host);
  const aside = await compileAside(configured, { ...options, published }, host, talk, signal);
  const { fresh, compiled } = aside;
  const { report } = compiled;
  const change = await listChange(old, fresh);
  const guards = await guardsSay(configured.config, compiled, output.path, options, host);
  const warnings = [...compiled.diagnostics, ...guards.warnings];
  const promises = await covers.refusals(configured, aside.list, options);
  for (const warning of promises.warnings) talk.diagnostic(warning);
  const refused = [...guards.refused, ...promises.refused];
  if (refused.length === 0) covers.add(configured, aside.list);
  const isVerbose = talk.says("debug");
  const plan = { file: output.name, report, change, refused, warnings, isVerbose };
  if (options.json) documents.push({ file: output.name, report, refused, ...changeJson(change) });
  else if (options.args.switches.has("markdown")) await sendToOutput(planMarkdown(plan), host);
  else await showText(planText(plan, talk.dataStyle), host);
  const saved = options.args.values.get("save")?.[0];
  if (saved !== undefined) {
    const places = files.map((file, index) => ({ ...file, was: was[index]! }));
    const rest = {
      files: places,
      record: aside.header,
      lock: aside.lock,
      folder: configured.folder,
    };
    const { sources: _sources, ...config } = configured.config;
    const { settings, size } = guardLimits(configured.config);
    await savePlan(
      saved,
      {
        report,
        refused,
        warnings,
        config,
        shape: compiled.shape,
        timelessHead: compiled.timelessHead,
        runs: aside.runs,
        rulesDir: host.path.resolve(host.cwd, options.rulesDir),
        remembering: { settings, size },
        ...rest,
      },
      aside,
      host,
    );
  }
  return refused.length > 0 ? Exit.Guard : changeExit(change, options);
}

/** The list that is published now; an empty one when there is none. */
async function publishedState(path: string, host: Host): Promise<ListState> {
  const { list: bytes = new Uint8Array(0), record } = await buildAt(path, host);
  return { bytes, record: record?.header.bytes === bytes.length ? record : undefined };
}
