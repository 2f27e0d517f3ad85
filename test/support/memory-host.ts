import process from "node:process";
import { type MemoryHost, type MemoryHostOptions, memoryHost as hostOf } from "./host/in-memory.ts";

/** Whether tests see the files of Windows: `windows-*.test.ts` run suites a second time with them. */
export const isWindows: boolean = process.env["MEMORY_HOST"] === "windows";

/**
 * A host in memory, of the system that this process tests. Tests write paths as POSIX does, which Windows understands; what
 * Windows prints and lists is translated back for them.
 */
export function memoryHost(options: MemoryHostOptions = {}): MemoryHost {
  if (!isWindows) return hostOf(options);
  const host = hostOf({ system: "windows", ...options });
  const { files, output } = host;
  const entries = files.entries.bind(files);
  const translatedEntries = (): [string, Uint8Array][] =>
    [...entries()].map(([path, bytes]) => [posixPath(path), bytes]);
  files.entries = files[Symbol.iterator] = () => translatedEntries().values();
  files.keys = () => new Map(translatedEntries()).keys();
  const printed = {
    get stdout(): string {
      return translated(output.stdout);
    },
    set stdout(text: string) {
      output.stdout = text;
    },
    get stderr(): string {
      return translated(output.stderr);
    },
    set stderr(text: string) {
      output.stderr = text;
    },
  };
  return { ...host, output: printed };
}

/** `C:\project\a` → `/project/a`. */
export function posixPath(path: string): string {
  return path.replace(/^C:/, "").replaceAll(/\\+/g, "/");
}

/** The same for every path in a text; in JSON, backslashes are doubled. */
function translated(text: string): string {
  return text.replaceAll(/(?:C:\\|[\w.-]+\\)[\w.\\-]+/g, posixPath);
}
