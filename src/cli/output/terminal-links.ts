import type { Host } from "../../host/host.ts";

/** Terminals that make links of OSC 8; others show nothing, or rubbish, so only those that are known to. */
const PROGRAMS = /^(?:iTerm\.app|WezTerm|vscode|ghostty|Hyper|Tabby|rio)$/;
const TERMS = /^(?:xterm-kitty|xterm-ghostty|alacritty|foot|contour)/;
/** VTE 0.50, the first that has them. */
const FIRST_VTE = 5000;

/** Whether a terminal is known to make links. `FORCE_HYPERLINK` decides, where it is set. */
export function hasTerminalLinks(env: Host["env"]): boolean {
  const forced = env["FORCE_HYPERLINK"];
  if (forced !== undefined && forced !== "") return forced !== "0";
  return (
    PROGRAMS.test(env["TERM_PROGRAM"] ?? "") ||
    TERMS.test(env["TERM"] ?? "") ||
    Number(env["VTE_VERSION"] ?? 0) >= FIRST_VTE ||
    [env["WT_SESSION"], env["KONSOLE_VERSION"]].some((value) => value !== undefined && value !== "")
  );
}
