/**
 * Queries a second of `stats --traffic` for a log of five million lines, beside `why -` for the same names, with the list of the
 * typical corpus. A million different names, as often as Zipf's law says; every fifth is one of the lists. The goal is 300,000 a
 * second on two idle cores. Usage: traffic.ts [QUERIES] [RUNS]
 */
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { Random } from "../test/support/random.ts";
import { compileCommand, inputOf, report, rounded, workFolder } from "./inputs.ts";
import { type Cost, interleaved, measure } from "./measure.ts";

const GOAL = 300_000;
const QUERIES = Number(process.argv[2] ?? 5_000_000);
const NAMES = 1_000_000;

const input = inputOf("typical");
const folder = workFolder(input);
const log = join(folder, "queries.log");
const plain = join(folder, "names.txt");

/** Names of the lists, and others that no list has. */
function universe(random: Random): string[] {
  const listed = input.files
    .flatMap((file) => readFileSync(file, "latin1").split("\n"))
    .map((line) => /^(?:0\.0\.0\.0 |\|\|)([a-z0-9-]+(?:\.[a-z0-9-]+)+)\^?$/.exec(line)?.[1])
    .filter((name) => name !== undefined);
  return Array.from({ length: NAMES }, (_, index) =>
    index % 5 === 0
      ? `${random.chance(0.3) ? "www." : ""}${random.pick(listed)}`
      : `${random.pick(["www", "cdn", "api", "m"])}.site-${index.toString(36)}.${random.pick(["com", "net", "de"])}`,
  );
}

function writeLogs(): void {
  const random = new Random(1);
  const names = universe(random);
  const files = [openSync(log, "w"), openSync(plain, "w")] as const;
  let logged = "";
  let named = "";
  for (let query = 0; query < QUERIES; query++) {
    const name = names[Math.floor(NAMES ** random.next())]!;
    logged += `Nov 16 19:17:26 dnsmasq[2766]: query[A] ${name} from 192.168.1.${query % 200}\n`;
    named += `${name}\n`;
    if (logged.length < 1 << 20) continue;
    writeSync(files[0], logged);
    writeSync(files[1], named);
    logged = named = "";
  }
  writeSync(files[0], logged);
  writeSync(files[1], named);
  for (const file of files) closeSync(file);
}

try {
  writeLogs();
  measure(compileCommand(folder));
  const program = join(import.meta.dirname, "../dist/cli/bin.js");
  const answer = (command: string, rest: string): Cost =>
    measure([
      "sh",
      "-c",
      `'${process.execPath}' '${program}' ${command} -c '${join(folder, "config.json")}' -o '${join(folder, "ours.txt")}' ${rest}`,
    ]);
  const { traffic, why } = interleaved(
    {
      traffic: () => answer("stats", `--traffic '${log}' > '${join(folder, "stats.txt")}'`),
      why: () => answer("why", `- < '${plain}' > /dev/null`),
    },
    Number(process.argv[3] ?? 3),
  );
  const speed = ({ wallSeconds, cpuSeconds, peakMegabytes }: Cost): object => ({
    namesPerSecond: Math.round(QUERIES / wallSeconds),
    namesPerCpuSecond: Math.round(QUERIES / cpuSeconds),
    seconds: rounded(wallSeconds),
    cpuSeconds: rounded(cpuSeconds),
    peakMegabytes: Math.round(peakMegabytes),
  });
  process.stdout.write(readFileSync(join(folder, "stats.txt"), "utf8").split("\n\n")[1] ?? "");
  report("traffic", { queries: QUERIES, goal: GOAL, traffic: speed(traffic!), why: speed(why!) });
} finally {
  rmSync(folder, { recursive: true });
}
