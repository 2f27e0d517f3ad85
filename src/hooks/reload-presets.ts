import type { HookConfig } from "../config/config.ts";
import type { ReloadName } from "../config/hook-fields.ts";
import { refreshAdGuardHome, refreshPiHole, refreshTechnitium } from "./api-reloads.ts";
import type { HookSetting } from "./hook-setting.ts";
import { runHookProgram } from "./run-program.ts";
import { signalByFile } from "./signal-by-file.ts";

/** Makes a resolver read its list again; returns what it printed. Rejects with a `HookFailure`. */
export type Reload = (hook: HookConfig, setting: HookSetting) => Promise<string>;

/** A control program: its name, the words of `with`, then the command. */
function program(name: string, ...command: string[]): Reload {
  return async ({ with: words = [] }, setting) =>
    await runHookProgram([name, ...words, ...command], undefined, setting);
}

/** How each resolver documents its reload. */
export const RELOAD_PRESETS: Readonly<Record<ReloadName, Reload>> = {
  unbound: program("unbound-control", "reload"),
  bind: program("rndc", "reload"),
  // Without --force, it ignores a file that changed while its settings did not.
  "knot-resolver": program("kresctl", "reload", "--force"),
  "knot-resolver-5": program("systemctl", "restart", "kresd@*"),
  "powerdns-recursor": program("rec_control", "reload-lua-config"),
  // The function is defined in the configuration of dnsdist; see docs/resolvers/dnsdist.md.
  dnsdist: program("dnsdist", "-e", "reloadList()"),
  dnsmasq: async ({ pid_file: file = "/run/dnsmasq/dnsmasq.pid" }, setting) =>
    await signalByFile(file, { program: "dnsmasq", signal: "SIGHUP" }, setting),
  smartdns: program("systemctl", "restart", "smartdns"),
  "adguard-home": refreshAdGuardHome,
  "pi-hole": refreshPiHole,
  technitium: refreshTechnitium,
};
