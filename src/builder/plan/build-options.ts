import { type Permit, ReadOnce } from "../../host/host.ts";
import type { Diagnostic } from "../../diagnostics/render.ts";
import type { WrittenConfig } from "../../config/lists.ts";
import type { Plugins } from "../../engine/plugins.ts";
import type { Host } from "../../host/host.ts";
import type { Project } from "./project.ts";

/** The configuration file of one run, which all its parts read once. */
export type ConfigFile = ReadOnce<Project>;

/** The configuration file that the options name. */
export function configFileOf({ configFile, configPath }: ProjectOptions, host: Host): ConfigFile {
  return configFile?.path === configPath ? configFile : new ReadOnce(configPath, host);
}

/** The configuration, the lists to build, and where to write them. Options have the names of their flags. */
export interface ProjectOptions {
  /** The configuration file, ... */
  readonly configPath: string;
  /** What this run read of that file. */
  readonly configFile?: ConfigFile | undefined;
  /** Whether the file was found under a default name, so that other commands find it too. */
  readonly isFound?: boolean;
  /** ... or the configuration itself, with paths relative to the working directory ... */
  readonly config?: WrittenConfig | undefined;
  /** ... or sources to compile without a configuration, and their type. */
  readonly inputs: readonly string[];
  readonly inputType: string | undefined;
  /** Names of the lists to build, where `*` matches any text. If empty, all lists are built. */
  readonly filter: readonly string[];
  /** What the configuration may do besides writing lists into the rules directory. */
  readonly permit: readonly Permit[];
  /** The plugins to use instead of the modules that the configuration names. */
  readonly plugins?: Plugins | undefined;
  /** File or folder of the list. `-` means standard output. */
  readonly output: string | undefined;
  /** The format that the list is converted to. Only the files of this format are written, to `output`. */
  readonly to?: string | undefined;
  /** Whether to write the list into the rules directory too if `output` is set. */
  readonly copyToRules: boolean;
  readonly rulesDir: string;
  /** Whether the user chose neither `output` nor `rulesDir`. */
  readonly isUsualPlace?: boolean;
  /** Gets the problems of the file of decisions, which then counts as empty: answers about a published list do not need it. */
  readonly onBadDecisions?: (problems: readonly Diagnostic[]) => void;
}

export interface BuildOptions extends ProjectOptions {
  /** Memory limit in bytes. Defaults to half of the machine's memory. */
  readonly memory: number | undefined;
  /** Folder of source copies and the build cache. If undefined, both are disabled. */
  readonly cacheDir: string | undefined;
  /** Whether to write a build record. */
  readonly record: boolean;
  readonly offline: boolean;
  /** What was decided about names, for the log. The build is then made from the texts of the last publish, without a request: only decisions have changed. */
  readonly decided?: string | undefined;
  readonly frozen: boolean;
  /** The source to lock again, or `*` for all. If undefined, an existing lock is kept up to date. */
  readonly update: string | undefined;
  readonly compat: boolean;
  /** Guards that may be overruled in this run. */
  readonly accept: readonly string[];
  /** Who asks for the build; the user on this machine by default. */
  readonly by?: string | undefined;
}
