// Loaded before the program: writes every program that is started to the file of TRACE.
import childProcess from "node:child_process";
import { appendFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import process from "node:process";

const note = (...words) => appendFileSync(process.env.TRACE, `${JSON.stringify(words)}\n`);
const { spawn } = childProcess.ChildProcess.prototype;
childProcess.ChildProcess.prototype.spawn = function traced(options) {
  note(options.file, ...options.args);
  return spawn.call(this, options);
};
for (const name of ["spawnSync", "execSync", "execFileSync"])
  childProcess[name] = (...words) => note(name, ...words);
syncBuiltinESMExports();
