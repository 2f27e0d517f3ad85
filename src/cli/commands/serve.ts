import type { BuildContext } from "../../builder/build.ts";
import { partPaths, reportFiles, stateFolder } from "../../builder/inspect-lists.ts";
import { ConfigFile } from "../../builder/plan/build-options.ts";
import {
  type ListPlan,
  planCombined,
  planLists,
  wantedFiles,
} from "../../builder/plan/list-plan.ts";
import { hookNames, openProject } from "../../builder/plan/project.ts";
import { Conditions, type ListedCondition } from "../../builder/state/conditions.ts";
import { holdFacts, readHold, readLastPublish } from "../../builder/state/list-state.ts";
import { resolversOf } from "../../config/resolvers.ts";
import type { BuildDocument } from "../../documents/documents.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import type { Host } from "../../host/host.ts";
import { Probe } from "../../resolvers/probe.ts";
import { OwnToken, readToken } from "../../server/requests.ts";
import { type RunnerOptions, withDeadline } from "../../server/runs.ts";
import { EventLog, serve, waitForConfig } from "../../server/serve.ts";
import type { HeldList } from "../../server/served-lists.ts";
import { withFoundConfig } from "../flags/found-config.ts";
import { type Options, wordsFor } from "../flags/options.ts";
import { serveOptionsOf } from "../flags/serve-options.ts";
import { settingsOf } from "../output/narration.ts";
import { columnsOf, wrapScreen } from "../output/reporter.ts";
import { actApart, buildIn, isNew, problemIn, whyApart } from "../serve-children.ts";
import type { Command } from "./registry.ts";

type Opened = Awaited<ReturnType<typeof openProject>> & { readonly options: Options };

/** Compiles on a schedule in child processes, and serves the lists, their health and their metrics. */
export const serveCommand: Command = async (asked, real, reporter, signal) => {
  const settings = serveOptionsOf(asked.args, real.env);
  if (real.listen === undefined || real.runSelf === undefined)
    throw new CompilerError([errorOf("listen-failed", "This runtime cannot serve")]);
  const log = new EventLog(real, {
    json: asked.json || !real.stderr.isTerminal,
    style: reporter.style,
    wrap: (text) => wrapScreen(text, columnsOf(real.stderr)),
    isEnabled: (level) => reporter.shows(level),
  });
  // An invalid configuration must fail now, not at the first scheduled run.
  const open = async (): Promise<Opened> => {
    const options = (await withFoundConfig(asked, real, reporter)) ?? asked;
    const configFile = new ConfigFile(options.configPath, real);
    return { options, ...(await openProject({ ...options, configFile }, real)) };
  };
  const ready = await waitForConfig(open, { ...settings, host: real, log, signal });
  if (ready === undefined) return Exit.Done;
  const { host, opened } = ready;
  const { options, project, lists: all } = opened;
  log.write("debug", "settings", settingsOf(options, "serve", host));
  for (const warning of project.warnings)
    if (warning.severity !== "note") reporter.diagnostic(warning);
  const plans = await planLists(all, options, host);
  const files = plans.flatMap((plan) => plan.files);
  const [first] = files;
  if (first === undefined)
    throw new CompilerError([
      errorOf("unknown-flag", "serve cannot write to standard output", {
        hint: "Remove -o -, or name a file",
      }),
    ]);
  const given = settings.tokenFile && (await readToken(settings.tokenFile, host));
  const ownToken = given ? undefined : new OwnToken(options.cacheDir ?? host.cacheDir(), host);
  const folder = stateFolder(plans, host);
  const further = plans
    .flatMap(({ outputs }) => outputs)
    .flatMap((one) => (one.format.hasAllowFile === true ? [one.path, one.allowPath] : [one.path]));
  const lists = [...files.map(({ path }) => path), ...further];
  const compile = compileApart(project.config.name, options, host);
  const reports = reportFiles(plans, folder, host);
  const report = reportApart(reports, { options, host, signal }, settings.runTimeoutMs);
  const root = host.path.resolve(host.cwd, options.rulesDir);
  const published = (): Promise<RulesOfFile[]> => publishedRules(plans, host);
  const held = (): Promise<HeldList[]> => heldLists(plans, host);
  const conditions = (): Promise<ListedCondition[]> => conditionsOf(plans, host);
  const resolvers = new Probe(all, options, host);
  const proofs: Probe["states"] = () => resolvers.states();
  const asks = options.permit.includes("hooks") && resolversOf(project.config).length > 0;
  const hooks = options.permit.includes("hooks") ? hookNames(project) : [];
  const round: Probe["round"] = (isRunning, until) => resolvers.round(isRunning, until);
  const probe = asks ? round : undefined;
  const outputs = wantedFiles(plans, planCombined(project, options, host)).map(({ path }) => path);
  const partsOf = (path: string): Promise<string[]> => partPaths(path, host);
  const paths = { root, folder, lists, outputs, reports, partsOf };
  const listNames = plans.map(({ list }) => list.config.name);
  const requests = {
    token: given || ownToken!.token,
    hostNames: settings.hostNames,
    listNames,
    resolvers: resolversOf(project.config).map(({ name }) => name),
    act: actApart(options, host),
    why: whyApart(listNames, options, host),
  };
  await serve(
    {
      ...settings,
      ...paths,
      requests,
      ownToken,
      compile,
      published,
      held,
      proofs,
      probe,
      hooks,
      conditions,
      report,
    },
    host,
    log,
    signal,
  );
  return Exit.Done;
};

async function conditionsOf(plans: readonly ListPlan[], host: Host): Promise<ListedCondition[]> {
  const all: ListedCondition[] = [];
  for (const { list, files } of plans)
    for (const one of (await new Conditions(files[0]?.path, host).read()) ?? [])
      all.push({ ...one, list: list.config.name });
  return all;
}

interface RulesOfFile {
  readonly path: string;
  readonly rules: number;
}

async function publishedRules(plans: readonly ListPlan[], host: Host): Promise<RulesOfFile[]> {
  const found: RulesOfFile[] = [];
  for (const { path } of plans.flatMap((plan) => plan.files)) {
    const last = await readLastPublish(path, host);
    if (last !== undefined) found.push({ path, rules: last.rules });
  }
  return found;
}

async function heldLists(plans: readonly ListPlan[], host: Host): Promise<HeldList[]> {
  const held: HeldList[] = [];
  for (const { list, files } of plans) {
    const hold = files[0] && (await readHold(files[0].path, host));
    if (hold === undefined) continue;
    const name = list.config.name;
    const rules = hold !== "damaged" && { rules: hold.report.rules };
    held.push({ list: name, ...holdFacts(hold), ...rules });
  }
  return held;
}

/** Exit codes of a build that published its lists. */
const BUILT: ReadonlySet<number | undefined> = new Set([Exit.Done, Exit.Degraded, Exit.Unproved]);

/** Compiles in a child process, which frees its memory at the end. Meanwhile the server answers requests. */
function compileApart(name: string, options: Options, host: Host): RunnerOptions["compile"] {
  const words = ["compile", "--json", "--by", "serve", ...wordsFor("compile", options.args)];
  return async (onProblem, signal) => {
    const { exit, stdout } = await host.runSelf!({
      words,
      signal,
      onLine: (line) => {
        const problem = problemIn(line);
        if (isNew(problem)) onProblem(problem);
      },
    });
    if (stdout.trim() === "") return { exit };
    const built = buildIn(JSON.parse(stdout) as BuildDocument, name);
    if (BUILT.has(exit)) return { exit, ...built };
    return exit === Exit.Guard ? { exit, sources: built.build?.sources } : { exit };
  };
}

/** Writes the reports in a child process too. */
function reportApart(
  files: readonly string[],
  { options, host, signal }: Pick<BuildContext, "host" | "signal"> & { readonly options: Options },
  timeoutMs: number,
): () => Promise<void> {
  const place = files.length === 1 ? files[0]! : `${host.path.dirname(files[0]!)}/`;
  return async () => {
    if (options.args.switches.has("no-record")) return;
    const words = ["stats", "--quiet", ...wordsFor("stats", options.args), `--html=${place}`];
    const said: string[] = [];
    const { value, isLate } = await withDeadline(timeoutMs, signal, (until) =>
      host.runSelf!({ words, signal: until, onLine: (line) => said.push(line) }),
    );
    if (value?.exit !== Exit.Done && !signal.aborted)
      throw new Error(isLate ? "it took too long" : said.join(" ") || `ended in ${value?.exit}`);
  };
}
