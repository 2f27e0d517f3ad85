import { Exit } from "../../diagnostics/exit.ts";
import { type ListState, listChange } from "../../explain/list-change.ts";
import { keptBuilds, momentOf } from "../../record/kept-builds.ts";
import { stateOfBuild } from "../build-named.ts";
import { changeJson } from "../change-text.ts";
import { changelogSection } from "../changelog-text.ts";
import { lastBuild } from "../last-build.ts";
import { sendToOutput } from "../send-to-output.ts";
import type { Command } from "./registry.ts";

/** What each of the kept builds changed, newest first. */
export const changelogCommand: Command = async (options, host, talk) => {
  const { path, record } = await lastBuild(options, host, talk);
  const builds = (await keptBuilds(path, host)).toReversed();
  if (!options.isJson) await sendToOutput(`# ${record.header.name}\n`, host);
  if (builds.length < 2) talk.info("Nothing to compare yet: one build is kept");
  let newer: { at: string; state: ListState } | undefined;
  for (const build of builds) {
    const state = await stateOfBuild(build, host);
    if (state === undefined) break;
    if (newer !== undefined) {
      const change = await listChange(state, newer.state);
      const text = options.isJson
        ? `${JSON.stringify({ at: newer.at, ...changeJson(change) })}\n`
        : changelogSection(newer.at, change, state.record?.header, newer.state.record?.header);
      await sendToOutput(text, host);
    }
    newer = { at: momentOf(build.stamp), state };
  }
  return Exit.Done;
};
