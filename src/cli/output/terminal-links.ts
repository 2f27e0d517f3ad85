import type { Host } from "../../host/host.ts";

/** Terminals that support OSC 8 links. Others may show nothing or garbage, so only known ones are listed. */
const PROGRAMS = /^(?:iTerm\.app|WezTerm|vscode|ghostty|Hyper|Tabby|rio)$/;
const TERMS = /^(?:xterm-kitty|xterm-ghostty|alacritty|foot|contour)/;
/** VTE 0.50, the first version that supports links. */
const FIRST_VTE = 5000;

/** Whether the terminal is known to support links. `FORCE_HYPERLINK` overrides the detection. */
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
