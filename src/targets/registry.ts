import type { TargetConfig } from "../config/config.ts";
import { gitBranch } from "./git-branch.ts";
import { s3Bucket } from "./s3-bucket.ts";
import type { Target } from "./target.ts";

/** The fields of an entry of `publish` that are kinds of targets. */
export type TargetKind = Exclude<keyof TargetConfig, "timeout">;

export const TARGETS: Readonly<Record<TargetKind, Target>> = {
  git: gitBranch,
  s3: s3Bucket,
};

/** The kind of a target; a valid one has exactly one. */
export function kindOf(config: TargetConfig): TargetKind {
  return (Object.keys(TARGETS) as TargetKind[]).find((kind) => config[kind] !== undefined)!;
}
