import type { TargetConfig } from "../config/config.ts";
import type { Host } from "../host/host.ts";
import type { FolderFile } from "./folder-files.ts";

/** The published files, in the order of their names. */
export interface PublishedFolder {
  readonly path: string;
  readonly files: readonly FolderFile[];
  /** Names of the lists that have all their files. */
  readonly lists: readonly string[];
  /** Names of the other lists. */
  readonly missing: readonly string[];
  /** Whether all files of all lists are known and there. Otherwise a file that is not here may still be needed. */
  readonly isWhole: boolean;
}

/** Where and how long a target works. */
export interface TargetSetting {
  readonly host: Host;
  /** The folder of the configuration, where its relative paths start. */
  readonly folder: string;
  /** The name of the configuration. */
  readonly name: string;
  /** The folder for the state of targets. */
  readonly stateFolder: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What was done. */
export interface TargetEnd {
  readonly outcome: "published" | "unchanged";
  /** How many files the target has now. */
  readonly files: number;
  /** How many of them were sent; absent if that is not known. */
  readonly sent?: number;
  readonly removed?: number;
  /** Their size together. */
  readonly bytes: number;
}

/** A place to which published files are copied. */
export interface Target {
  /** Names it in messages. */
  titleOf(config: TargetConfig): string;
  /** Makes it equal to the folder. Rejects with a `TargetFailure`. */
  publish(
    config: TargetConfig,
    folder: PublishedFolder,
    setting: TargetSetting,
  ): Promise<TargetEnd>;
}
