import process from "node:process";

// The same suite with as many lists as it takes to be sure; it reads its size from the environment.
process.env["AGREEMENT_FULL"] = "1";
await import("../agreement/agreement.test.ts");
