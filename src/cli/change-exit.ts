import { Exit } from "../diagnostics/exit.ts";
import { type ListChange, isSame } from "../explain/list-change.ts";
import type { Options } from "./flags/options.ts";

/** The exit code of a command that shows a change. Only `--exit-code` makes it depend on the change. */
export function changeExit(change: ListChange, { args }: Options): Exit {
  return args.switches.has("exit-code") && !isSame(change) ? Exit.Changes : Exit.Done;
}
