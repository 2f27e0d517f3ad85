import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { countText } from "../../diagnostics/number-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { ListState } from "../../explain/list-change.ts";
import type { Host } from "../../host/host.ts";
import {
  type KeptBuild,
  keptBuilds,
  listOf,
  momentOf,
  recordOf,
} from "../../record/kept-builds.ts";

/** `@0`, `@1`, … count back from the last build. `@2026-11-15` and `@2026-11-15T06` select the last build with that prefix. */
export const BUILD: RegExp = /^@(?<which>\d{1,3}|\d{4}-\d{2}[\dT:.Z-]*)$/;

/** The build of a list that an operand selects. Rejects with a `CompilerError` if it is not kept. */
export async function buildNamed(operand: string, list: string, host: Host): Promise<KeptState> {
  const builds = (await keptBuilds(list, host)).toReversed();
  const build = selected(operand, builds);
  const state = build && (await stateOfBuild(build, host));
  if (state !== undefined) return state;
  throw buildMissing(operand, list, builds);
}

/** The build that an operand selects. Builds are ordered newest first. */
export function selected(operand: string, builds: readonly KeptBuild[]): KeptBuild | undefined {
  const which = BUILD.exec(operand)?.groups?.["which"] ?? "";
  return which.includes("-")
    ? builds.find(({ stamp }) => momentOf(stamp).startsWith(which))
    : builds[Number(which)];
}

/** The error for a build that is not kept. Builds are ordered newest first. */
export function buildMissing(
  operand: string,
  list: string,
  builds: readonly KeptBuild[],
): CompilerError {
  const oldest = builds.at(-1);
  const cause =
    oldest && `${countText(builds.length, "build")} stored, since ${momentOf(oldest.stamp)}`;
  return new CompilerError([
    errorOf(
      "build-missing",
      `No stored build of ${printable(list)} matches ${printable(operand)}`,
      {
        ...(cause && { cause }),
      },
    ),
  ]);
}

/** A list with its kept build, if it has one. */
export interface KeptState extends ListState {
  readonly build?: KeptBuild | undefined;
}

/** Undefined if its list cannot be read. */
async function stateOfBuild(build: KeptBuild, host: Host): Promise<KeptState | undefined> {
  const bytes = await listOf(build, host);
  return bytes && { bytes, record: await recordOf(build, host), build };
}

/** The builds of a list that can still be read, newest first. */
export async function* keptStates(
  list: string,
  host: Host,
): AsyncGenerator<{ readonly at: string; readonly state: KeptState }> {
  for (const build of (await keptBuilds(list, host)).toReversed()) {
    const state = await stateOfBuild(build, host);
    if (state === undefined) return;
    yield { at: momentOf(build.stamp), state };
  }
}
