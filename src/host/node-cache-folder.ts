import { homedir, platform } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** `$XDG_CACHE_HOME` or `~/.cache`; `~/Library/Caches` on macOS, `%LOCALAPPDATA%` on Windows. */
export function cacheDir(): string | undefined {
  const { env } = process;
  try {
    if (platform() === "win32") {
      const local = env["LOCALAPPDATA"] ?? join(homedir(), "AppData", "Local");
      return join(local, "rules-compiler", "cache");
    }
    const named = env["XDG_CACHE_HOME"];
    if (named !== undefined && named.startsWith("/")) return join(named, "rules-compiler");
    const home = homedir();
    if (home === "" || home === "/") return undefined;
    return platform() === "darwin"
      ? join(home, "Library", "Caches", "rules-compiler")
      : join(home, ".cache", "rules-compiler");
  } catch {
    return undefined;
  }
}
