import { spawnSync } from "node:child_process";
import process from "node:process";
import type { Meaning } from "./list-matcher.ts";

const PROGRAM = process.env["URLFILTER_JUDGE"];

/** Why AdGuard Home's engine cannot be asked. */
export const missingJudge: string | false =
  PROGRAM === undefined && "NO JUDGE: URLFILTER_JUDGE names no program";

/** What AdGuard Home's own engine says of names, for each list: a black box that reads and prints JSON. */
export function urlfilterJudge(
  questions: readonly { readonly list: string; readonly names: readonly string[] }[],
): Meaning[][] {
  const input = questions.map((one) => JSON.stringify(one)).join("\n");
  const { stdout, status, stderr } = spawnSync(PROGRAM!, {
    input,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(`${PROGRAM}: ${stderr}`);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Meaning[]);
}
