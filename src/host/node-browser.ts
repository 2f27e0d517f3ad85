import { spawn } from "node:child_process";
import process from "node:process";
import { toHostError } from "./host.ts";

const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** Opens a file in the default browser without waiting for it. */
export function openInBrowser(path: string): Promise<void> {
  const [program, ...words] = OPENERS[process.platform] ?? ["xdg-open"];
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...words, path], { stdio: "ignore", detached: true });
    child.on("error", (error) => reject(toHostError(error)));
    child.on("spawn", () => {
      child.unref();
      resolve();
    });
  });
}
