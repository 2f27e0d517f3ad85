/**
 * A list of CSV rows, without and with quotes, compared with the same names as `domains`, by processor time, interleaved. The limit is
 * 1.5 times the time.
 *
 *   node bench/feeds.ts [ROWS, default 10000000] [--gate] [--save]
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Random } from "../test/support/random.ts";
import { compileCommand, report, rounded } from "./inputs.ts";
import { type Cost, interleaved, measure } from "./measure.ts";

const LIMIT = 1.5;
const rows = Number(process.argv.slice(2).find((word) => /^\d+$/.test(word)) ?? 10_000_000);
const runs = process.argv.includes("--gate") ? 1 : 3;

const FORMS = {
  domains: { source: { type: "domains" }, head: "", line: (name: string) => `${name}\n` },
  csv: {
    source: { type: "csv", column: "host" },
    head: "id,date,host,threat\n",
    line: (name: string, row: number) => `${row},2026-11-16 19:17:25,${name},phishing\n`,
  },
  quoted: {
    source: { type: "csv", column: "host" },
    head: "id,date,host,threat\n",
    line: (name: string, row: number) => `${row},2026-11-16 19:17:25,"${name}","phishing, other"\n`,
  },
} as const;
type Form = keyof typeof FORMS;
const forms = Object.keys(FORMS) as Form[];

const folders = Object.fromEntries(
  forms.map((form) => [form, mkdtempSync(join(tmpdir(), "bench-feeds-"))]),
) as Record<Form, string>;

function writeSources(): void {
  const random = new Random(1);
  const files = forms.map((form) => openSync(join(folders[form], "source.txt"), "w"));
  const blocks = forms.map((form) => FORMS[form].head as string);
  const flush = (least: number): void => {
    for (const [index, block] of blocks.entries())
      if (block.length >= least) {
        writeSync(files[index]!, block);
        blocks[index] = "";
      }
  };
  for (let row = 0; row < rows; row++) {
    const name = `h${random.below(rows).toString(36)}.site-${random.below(rows).toString(36)}.com`;
    for (const [index, form] of forms.entries()) blocks[index] += FORMS[form].line(name, row);
    flush(1 << 20);
  }
  flush(1);
  for (const file of files) closeSync(file);
}

try {
  writeSources();
  for (const form of forms) {
    const source = join(folders[form], "source.txt");
    const config = {
      name: form,
      sources: [{ name: form, source, ...FORMS[form].source }],
      transformations: ["Compress", "Deduplicate"],
    };
    writeFileSync(join(folders[form], "config.json"), JSON.stringify(config));
  }
  const compile = (form: Form) => (): Cost => measure(compileCommand(folders[form]));
  const costs = interleaved(Object.fromEntries(forms.map((form) => [form, compile(form)])), runs);
  const over = (form: Form): number => costs[form]!.cpuSeconds / costs["domains"]!.cpuSeconds;
  const ratio = over("csv");
  report("feeds", {
    rows,
    ...costs,
    ratio: rounded(ratio),
    quotedRatio: rounded(over("quoted")),
    limit: LIMIT,
  });
  if (Math.max(ratio, over("quoted")) > LIMIT) process.exitCode = 1;
} finally {
  for (const form of forms) rmSync(folders[form], { recursive: true });
}
