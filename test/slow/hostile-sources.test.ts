import process from "node:process";

// The same suite with as many cases as it takes to be sure; it reads its size from the environment.
process.env["ATTACK_FULL"] = "1";
await import("../attack/hostile-sources.test.ts");
