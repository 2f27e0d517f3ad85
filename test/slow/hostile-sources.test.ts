import process from "node:process";

// The same suites with as many cases as it takes to be sure; they read their size from the environment.
process.env["ATTACK_FULL"] = "1";
await import("../attack/hostile-sources.test.ts");
await import("../attack/guard-blinding.test.ts");
