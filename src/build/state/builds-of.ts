import type { Host } from "../../host/host.ts";
import {
  type KeptBuild,
  headerOf,
  keptBuilds,
  momentOf,
  numberOf,
} from "../../record/kept-builds.ts";

/** A kept build, as `log` shows it. */
export interface BuildEntry {
  /** How to select it: `@0` is the published one. */
  readonly build: string;
  /** Its number in the sequence of builds. */
  readonly number: number;
  readonly at: string;
  readonly rules: number;
  /** How many rules more than in the build before; undefined for the oldest. */
  readonly change?: number;
  /** Whether all published files are the same as in the build before. */
  readonly isSame: boolean;
  /** Who asked for it. */
  readonly by?: string;
  /** When the build was made that it repeats after a rollback. */
  readonly of?: string;
  /** Whether it can be published again. */
  readonly isComplete: boolean;
}

/** Whether all parts of a build are kept. Builds of earlier versions have no draft. */
export function isComplete({ files }: KeptBuild): boolean {
  return [files.record, files.draft, files.list].every((file) => file !== undefined);
}

/** The kept builds of a list, newest first. Those whose record cannot be read are left out. */
export async function buildsOf(path: string, host: Host): Promise<BuildEntry[]> {
  const builds = await keptBuilds(path, host);
  const nameOf = (index: number): string => `@${builds.length - 1 - index}`;
  const entries: BuildEntry[] = [];
  let before: { readonly rules: number; readonly list: string | undefined } | undefined;
  for (const [index, build] of builds.entries()) {
    const header = await headerOf(build, host);
    if (header === undefined) continue;
    const { rules, by, of } = header;
    const { list } = build.files;
    entries.push({
      build: nameOf(index),
      number: numberOf(build.stamp),
      at: momentOf(build.stamp),
      rules,
      ...(before && { change: rules - before.rules }),
      isSame: before !== undefined && list === before.list && header.hasChanged !== true,
      ...(by !== undefined && { by }),
      ...(of !== undefined && { of: momentOf(of) }),
      isComplete: isComplete(build),
    });
    before = { rules, list };
  }
  return entries.toReversed();
}
