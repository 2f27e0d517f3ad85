import { someOf } from "../../diagnostics/text.ts";
import { type Diagnostic, errorOf } from "../../diagnostics/render.ts";
import type { Host } from "../../host/host.ts";
import type { Options } from "./options.ts";
import type { Reporter } from "../output/reporter.ts";

/** Default names of the configuration file, in the order of the search. */
export const CONFIG_NAMES: readonly string[] = [
  ...["json", "jsonc", "yaml", "yml"].map((ending) => `compiler-config.${ending}`),
  ...["yaml", "yml", "json", "jsonc"].map((ending) => `rules-compiler.${ending}`),
];

/** The default file of `init`. */
export const NEW_CONFIG = "compiler-config.yaml";

/** The default configuration files in a folder. The first one is used. */
export async function configsIn(folder: string, host: Host): Promise<string[]> {
  const isThere = await Promise.all(
    CONFIG_NAMES.map(async (name) => await host.exists(host.path.resolve(folder, name))),
  );
  return CONFIG_NAMES.filter((_, index) => isThere[index]);
}

/** The options with the configuration file in use; undefined if none was named or found. A folder that is named is searched. */
export async function withFoundConfig(
  options: Options,
  host: Host,
  reporter: Reporter,
): Promise<Options | undefined> {
  const { args } = options;
  if (options.inputs.length > 0) return options;
  const named = args.values.get("config")?.[0] ?? (host.env["CONFIG_PATH"] || undefined);
  if (named !== undefined && !(await isFolder(named, host))) return options;
  const [first, ...others] = await configsIn(host.path.resolve(host.cwd, named ?? ""), host);
  const path = host.path.join(named ?? "", first ?? CONFIG_NAMES[0]!);
  if (first === undefined)
    return named === undefined ? undefined : { ...options, configPath: path };
  if (others.length > 0) reporter.diagnostic(severalConfigs(path, others));
  // Child processes of the command read the same file.
  const values = new Map(args.values).set("config", [path]);
  const isFound = named === undefined;
  return { ...options, configPath: path, isFound, args: { ...args, values } };
}

async function isFolder(named: string, host: Host): Promise<boolean> {
  const path = host.path.resolve(host.cwd, named);
  const real = await host.realPath(path).catch(() => path);
  return (await host.kindOf(real)) === "folder";
}

function severalConfigs(first: string, others: readonly string[]): Diagnostic {
  return {
    code: "several-configurations",
    severity: "note",
    message: `Found ${others.length + 1} configuration files; using ${first}`,
    hint: `Select another with -c: ${someOf(others)}`,
  };
}

/** Reports that there is no configuration, and suggests commands. */
export function printFirstSteps({ configPath }: Options, reporter: Reporter): void {
  reporter.diagnostic(errorOf("config-not-found", `Configuration file not found: ${configPath}`));
  reporter.info(`
Get started:
  rules-compiler init --from FILE   import the lists of AdGuard Home, Pi-hole,
                                    blocky or HostlistCompiler
  rules-compiler init URL URL …     start from lists on the web
  rules-compiler init               answer two questions
  rules-compiler -i SOURCE -o FILE  compile one list without a configuration
  rules-compiler -h                 show all commands`);
}
