import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Files of the two versions of control groups: where the limit is set, and where a process enters. */
const VERSIONS = [
  { parent: "/sys/fs/cgroup/memory", limit: "memory.limit_in_bytes", enter: "tasks" },
  { parent: "/sys/fs/cgroup", limit: "memory.max", enter: "cgroup.procs" },
];

export interface ControlGroup {
  /** The command line that runs a command inside the group. */
  enter(command: readonly string[]): string[];
  remove(): void;
}

/** A group with a limit on memory; undefined where this user may not make one. */
export function controlGroup(name: string, bytes: number): ControlGroup | undefined {
  for (const { parent, limit, enter } of VERSIONS) {
    const folder = join(parent, `rules-compiler-${name}`);
    try {
      if (!existsSync(folder)) mkdirSync(folder);
      if (!existsSync(join(folder, limit))) continue;
      writeFileSync(join(folder, limit), String(bytes));
      const script = `echo $$ > ${join(folder, enter)}; exec "$@"`;
      return {
        enter: (command) => ["bash", "-c", script, "_", ...command],
        remove: () => rmdirSync(folder),
      };
    } catch {
      continue;
    }
  }
  return undefined;
}
