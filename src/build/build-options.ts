import type { Config } from "../config/fields.ts";
import type { Plugins } from "../engine/plugins.ts";

/** What to build, from which configuration, and where to. Options have the names of their flags. */
export interface ProjectOptions {
  /** The configuration file, ... */
  readonly configPath: string;
  /** ... or the configuration itself, with paths relative to the working directory, ... */
  readonly config?: Config | undefined;
  /** ... or sources to compile without one, and their type. */
  readonly inputs: readonly string[];
  readonly inputType: string | undefined;
  /** Names of the lists to build, with `*` for any text; all lists when empty. */
  readonly filter: readonly string[];
  /** Whether to run the modules that the configuration names as plugins; or these instead of them. */
  readonly plugins: boolean | Plugins;
  /** File or folder of the list; `-` is standard output. */
  readonly output: string | undefined;
  /** Whether to write the list into the rules directory too, although there is an `output`. */
  readonly copyToRules: boolean;
  readonly rulesDir: string;
}

/** How to build. */
export interface BuildOptions extends ProjectOptions {
  /** Bytes of memory to stay below; by default half of what the machine has. */
  readonly memory: number | undefined;
  /** Threads to use; by default one for each processor. */
  readonly workers: number | undefined;
  /** Folder of source copies and the build cache; without it there is neither. */
  readonly cacheDir: string | undefined;
  /** Whether to keep a record of the build. */
  readonly record: boolean;
  readonly offline: boolean;
  readonly frozen: boolean;
  /** The source to lock anew, `*` for all; undefined to keep an existing lock up to date. */
  readonly update: string | undefined;
  readonly compat: boolean;
  /** Guards that may be overruled this time. */
  readonly accept: readonly string[];
}
