/**
 * Queries a second of `stats --traffic` for logs of five million lines, of dnsmasq and of AdGuard Home, beside `why -` for the
 * same names, with the list of the typical corpus. A million different names, as often as Zipf's law says; every fifth is one of the lists. The goal is 300,000 a
 * second on two idle cores. On a busy machine, only the processor time beside that of `why -` tells something: the gate compares these.
 *
 *   node bench/traffic.ts [QUERIES] [RUNS] [--gate] [--save]
 */
import { Buffer } from "node:buffer";
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { Random } from "../test/support/random.ts";
import { compileCommand, inputOf, report, rounded, workFolder } from "./inputs.ts";
import { type Cost, interleaved, measure } from "./measure.ts";

const GOAL = 300_000;
/** At most this part of the processor time of `why -`. */
const LIMIT = 0.6;
const [queries, runs] = process.argv.slice(2).filter((word) => /^\d+$/.test(word));
const QUERIES = Number(queries ?? 5_000_000);
const NAMES = 1_000_000;

const input = inputOf("typical");
const folder = workFolder(input);
const logs = {
  dnsmasq: join(folder, "queries.log"),
  adGuardHome: join(folder, "querylog.json"),
  names: join(folder, "names.txt"),
};
type Log = keyof typeof logs;

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

/** An answer of usual length. */
const ANSWER = "AAGBgAABAAEAAAAA".repeat(8);

function lineOf(name: string, client: string): Record<Log, string> {
  return {
    dnsmasq: `Nov 16 19:17:26 dnsmasq[2766]: query[A] ${name} from ${client}\n`,
    adGuardHome: `{"T":"2026-11-16T19:17:25.123456789+01:00","QH":"${name}","QT":"A","QC":"IN","CP":"","Upstream":"https://dns10.quad9.net:443/dns-query","Answer":"${ANSWER}","IP":"${client}","Result":{},"Elapsed":12345678}\n`,
    names: `${name}\n`,
  };
}

function writeLogs(): void {
  const random = new Random(1);
  const names = universe(random);
  const kinds = Object.keys(logs) as Log[];
  const files = kinds.map((kind) => openSync(logs[kind], "w"));
  const held = kinds.map((): Buffer[] => []);
  const flush = (): void => {
    for (const [index, pieces] of held.entries()) {
      writeSync(files[index]!, Buffer.concat(pieces));
      pieces.length = 0;
    }
  };
  for (let query = 0; query < QUERIES; query++) {
    const name = names[Math.floor(NAMES ** random.next())]!;
    const lines = lineOf(name, `192.168.1.${query % 200}`);
    for (const [index, kind] of kinds.entries()) held[index]!.push(Buffer.from(lines[kind]));
    if (query % 5000 === 0) flush();
  }
  flush();
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
  const stats = (kind: Log): Cost =>
    answer("stats", `--traffic '${logs[kind]}' > '${join(folder, "stats.txt")}'`);
  const { traffic, adGuardHome, why } = interleaved(
    {
      traffic: () => stats("dnsmasq"),
      adGuardHome: () => stats("adGuardHome"),
      why: () => answer("why", `- < '${logs.names}' > /dev/null`),
    },
    Number(runs ?? (process.argv.includes("--gate") ? 1 : 3)),
  );
  const speed = ({ wallSeconds, cpuSeconds, peakMegabytes }: Cost): object => ({
    namesPerSecond: Math.round(QUERIES / wallSeconds),
    namesPerCpuSecond: Math.round(QUERIES / cpuSeconds),
    seconds: rounded(wallSeconds),
    cpuSeconds: rounded(cpuSeconds),
    peakMegabytes: Math.round(peakMegabytes),
  });
  process.stdout.write(readFileSync(join(folder, "stats.txt"), "utf8").split("\n\n")[1] ?? "");
  const overWhy = ({ cpuSeconds }: Cost): number => rounded(cpuSeconds / why!.cpuSeconds);
  const ratios = { traffic: overWhy(traffic!), adGuardHome: overWhy(adGuardHome!) };
  report("traffic", {
    queries: QUERIES,
    goal: GOAL,
    ratios,
    limit: LIMIT,
    traffic: speed(traffic!),
    adGuardHome: speed(adGuardHome!),
    why: speed(why!),
  });
  if (Object.values(ratios).some((ratio) => ratio > LIMIT)) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
