import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** A figure may be as many commits older than the code that is released. */
export const MOST_COMMITS = 50;

interface Measured {
  readonly commit: string;
  readonly date: string;
}

/** The figures of a checkout that were measured too long ago, with the reason; a release has none. */
export function oldFigures(root: string): string[] {
  const folder = join(root, "bench/results");
  return readdirSync(folder)
    .toSorted()
    .flatMap((file) => {
      const found = JSON.parse(readFileSync(join(folder, file), "utf8")) as {
        readonly measured?: Measured;
      };
      // The figures of suites name a commit each, and their page shows it.
      if (file === "reliability.json") return [];
      const reason = ageOf(root, found.measured?.commit ?? "none");
      return reason === undefined ? [] : [`${file}: ${reason}`];
    });
}

function ageOf(root: string, commit: string): string | undefined {
  try {
    const words = ["rev-list", "--count", `${commit}..HEAD`];
    const age = Number(execFileSync("git", words, { cwd: root, stdio: "pipe", encoding: "utf8" }));
    return age > MOST_COMMITS ? `measured ${age} commits ago, at ${commit}` : undefined;
  } catch {
    return `measured at ${commit}, which is no commit here`;
  }
}
