import { type ListChange, hasSameRules, listChange } from "../explain/list-change.ts";
import type { Host } from "../host/host.ts";
import { changedFiles } from "./changed-files.ts";
import type { KeptState } from "./state/kept-build.ts";
import { wholeBuild } from "./state/kept-draft.ts";

/** Compares two lists and, if both are kept builds, the files that were published with them. */
export async function keptChange(
  before: KeptState,
  after: KeptState,
  place: { readonly name: string; readonly rulesDir: string },
  host: Host,
): Promise<ListChange> {
  const change = await listChange(before, after);
  const old = before.build && (await wholeBuild(before.build, host));
  const fresh = after.build && (await wholeBuild(after.build, host));
  if (old === undefined || fresh === undefined) return change;
  return withFiles(change, await changedFiles(old, fresh, place, host));
}

/** That the file of the list changes with its rules goes without saying. */
export function withFiles(change: ListChange, files: ListChange["files"]): ListChange {
  const isTold = hasSameRules(change);
  return { ...change, files: files.filter(({ isList }) => isTold || isList !== true) };
}
