import nodeModule from "node:module";
import process from "node:process";
import { cacheDir, codeFolder } from "../host/node-code-cache.ts";
import { nodeHost } from "../host/node.ts";
import { run } from "./main.ts";

/** Runs the program in this process. Calls `began` with the name of the command, before the command is loaded. */
export async function start(
  argv: readonly string[],
  began?: (command: string) => void,
): Promise<number> {
  // Caches compiled modules of dependencies in a folder that only this user can write to. Node only.
  if (nodeModule.enableCompileCache !== undefined) {
    const folder = codeFolder(cacheDir());
    if (folder !== undefined) nodeModule.enableCompileCache(folder);
  }
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => stop.abort(signal));
  process.on("SIGHUP", () => {
    // A server has its own listener and keeps running. All other commands end with their terminal.
    if (process.listenerCount("SIGHUP") === 1) stop.abort("SIGHUP");
  });
  return await run(argv, nodeHost(), stop.signal, began);
}
