import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { report } from "./inputs.ts";
import { SWITCH_WAYS, type SwitchFigures, runSwitch } from "../test/support/resolvers/switches.ts";

/**
 * What clients lose while a resolver changes to the next list, for each server, way and size: `node bench/switches.ts --save`. Needs the
 * servers. `SIZES`, `CHANGED` (names) and `ONLY` (a part of a
 * name) select others.
 */
const SIZES = (process.env["SIZES"] ?? "10000,100000").split(",").map(Number);
const ONLY = process.env["ONLY"] ?? "";

interface Row extends SwitchFigures {
  readonly resolver: string;
  readonly how: string;
  readonly names: number;
  readonly changed: number;
}

const rows: Row[] = [];
const CHANGED = process.env["CHANGED"];
for (const names of SIZES)
  for (const way of SWITCH_WAYS) {
    if (!`${way.resolver} ${way.how}`.includes(ONLY)) continue;
    const changed = CHANGED === undefined ? Math.ceil(names / 100) : Number(CHANGED);
    const folder = mkdtempSync(join(tmpdir(), "switch-"));
    try {
      const figures = await runSwitch(way, { names, changed }, folder);
      rows.push({ resolver: way.resolver, how: way.how, names, changed, ...figures });
      process.stdout.write(`${JSON.stringify(rows.at(-1))}\n`);
    } catch (error) {
      process.stdout.write(`${way.resolver}, ${way.how}, ${names}: ${String(error)}\n`);
      process.exitCode = 1;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
report("switches", { rows });
