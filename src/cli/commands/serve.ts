import {
  type BuildContext,
  type Project,
  openProject,
  servedConfig,
} from "../../library/programs.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import type { BuildDocument } from "../../documents/documents.ts";
import { type Host, ReadOnce } from "../../host/host.ts";
import { OwnToken, readToken } from "../../server/requests.ts";
import { type RunnerOptions, withDeadline } from "../../server/runs.ts";
import { EventLog, serve, waitForConfig } from "../../server/serve.ts";
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
    const configFile = new ReadOnce<Project>(options.configPath, real);
    return { options, ...(await openProject({ ...options, configFile }, real)) };
  };
  const ready = await waitForConfig(open, { ...settings, host: real, log, signal });
  if (ready === undefined) return Exit.Done;
  const { host, opened } = ready;
  const { options, project } = opened;
  log.write("debug", "settings", settingsOf(options, "serve", host));
  for (const warning of project.warnings)
    if (warning.severity !== "note") reporter.diagnostic(warning);
  const served = await servedConfig(opened, options, host);
  if (served === undefined)
    throw new CompilerError([
      errorOf("wrong-usage", "serve cannot write to standard output", {
        hint: "Remove -o -, or name a file",
      }),
    ]);
  const given = settings.tokenFile && (await readToken(settings.tokenFile, host));
  const ownToken = given ? undefined : new OwnToken(options.cacheDir ?? host.cacheDir(), host);
  const { names: listNames, folder, outputs, reports, resolvers, probe, held, conditions } = served;
  const compile = compileApart(project.config.name, options, host);
  const report = reportApart(reports, { options, host, signal }, settings.runTimeoutMs);
  const root = host.path.resolve(host.cwd, options.rulesDir);
  const paths = {
    root,
    folder,
    lists: served.files,
    outputs,
    reports,
    partsOf: served.partsOf,
  };
  const requests = {
    token: given || ownToken!.token,
    hostNames: settings.hostNames,
    listNames,
    resolvers,
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
      published: served.published,
      held,
      proofs: () => probe.states(),
      probe: served.canAsk ? (isRunning, until) => probe.round(isRunning, until) : undefined,
      hooks: served.hooks,
      conditions,
      report,
    },
    host,
    log,
    signal,
  );
  return Exit.Done;
};

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
