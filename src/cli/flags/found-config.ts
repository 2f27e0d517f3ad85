import { nearest, printable, someOf } from "../../diagnostics/text.ts";
import { CompilerError, type Diagnostic, errorOf } from "../../diagnostics/render.ts";
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
  const { args, inputs } = options;
  const [folder, ...lists] = inputs;
  if (folder !== undefined && lists.length === 0 && (await isFolder(folder, host))) {
    const values = new Map(args.values).set("config", [folder]);
    values.delete("input");
    return await withFoundConfig(
      { ...options, inputs: [], configPath: folder, args: { ...args, values } },
      host,
      reporter,
    );
  }
  if (inputs.length > 0) return options;
  const named = args.values.get("config")?.[0] ?? (host.env["CONFIG_PATH"] || undefined);
  if (named !== undefined && !(await isFolder(named, host))) return options;
  const searched = host.path.resolve(host.cwd, named ?? "");
  const known = await configsIn(searched, host);
  const [first, ...others] = known.length > 0 ? known : await onlyConfigIn(searched, host);
  const path = host.path.join(named ?? "", first ?? CONFIG_NAMES[0]!);
  if (first === undefined)
    return named === undefined ? undefined : { ...options, configPath: path };
  if (others.length > 0) reporter.diagnostic(severalConfigs(path, others));
  // Child processes of the command read the same file.
  const values = new Map(args.values).set("config", [path]);
  const isFound = named === undefined;
  return { ...options, configPath: path, isFound, args: { ...args, values } };
}

const LARGEST = 1024 * 1024;

/** The files in a folder that have a `sources` key. */
export async function withSources(folder: string, host: Host): Promise<string[]> {
  const found: string[] = [];
  for (const name of await host.listFolder(folder)) {
    const path = host.path.join(folder, name);
    if (!/^[^.].*\.(?:jsonc?|ya?ml)$/i.test(name) || (await host.kindOf(path)) !== "file") continue;
    if ((await host.sizeOf(path)) > LARGEST) continue;
    const text = new TextDecoder().decode(await host.readFile(path).catch(() => new Uint8Array(0)));
    if (/(?:^|[{,])[ \t]*["']?sources["']?[ \t]*:/m.test(text)) found.push(name);
  }
  return found.toSorted();
}

/**
 * The only configuration in a folder. The name is for people; if several have sources, which of them is meant is not guessed.
 * Rejects with a `CompilerError` that names them.
 */
async function onlyConfigIn(folder: string, host: Host): Promise<string[]> {
  const names = await withSources(folder, host);
  if (names.length < 2) return names;
  const message = `Configuration file not found: ${CONFIG_NAMES[0]!}`;
  const hint = `${names.length} files have sources: ${someOf(names)}. Select one with -c, or rename it to ${NEW_CONFIG}`;
  throw new CompilerError([errorOf("config-not-found", message, { hint, all: names })]);
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
  rules-compiler URL -o FILE        compile or convert one list
  rules-compiler -h                 show all commands`);
}

/** Throws a `CompilerError` if a configuration is named that does not exist, with the one that is probably meant. */
export async function refuseMisspelt({ configPath, inputs }: Options, host: Host): Promise<void> {
  const path = host.path.resolve(host.cwd, configPath);
  if (inputs.length > 0 || (await host.exists(path))) return;
  const files = await host.listFolder(host.path.dirname(path)).catch(() => []);
  const configs = files.filter((file) => /\.(?:jsonc?|ya?ml)$/.test(file));
  const meant = nearest(host.path.basename(path), configs);
  if (meant === undefined) return;
  throw new CompilerError([
    errorOf("config-not-found", `Configuration file not found: ${printable(configPath)}`, {
      hint: `Did you mean -c ${printable(host.path.join(host.path.dirname(configPath), meant))}?`,
    }),
  ]);
}
