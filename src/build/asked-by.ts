import type { Host } from "../host/host.ts";
import type { BuildOptions } from "./build-options.ts";

const LONGEST = 100;

/** Who asks for a build, for those who read later what happened: `user@machine`, unless the options say more. */
export function askedBy({ by }: Pick<BuildOptions, "by">, host: Host): string {
  const machine = host.processId().machine.split(" ")[0] ?? "";
  const text = by ?? [host.userName?.() ?? "unknown", machine].filter(Boolean).join("@");
  return text.slice(0, LONGEST);
}
