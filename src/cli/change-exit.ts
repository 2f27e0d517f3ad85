import { Exit } from "../diagnostics/exit.ts";
import { type ListChange, isSame } from "../explain/list-change.ts";
import type { Options } from "./flags/options.ts";

/** How a command ends that shows a change: only `--exit-code` makes a change more than good news. */
export function changeExit(change: ListChange, { args }: Options): Exit {
  return args.switches.has("exit-code") && !isSame(change) ? Exit.Changes : Exit.Done;
}
