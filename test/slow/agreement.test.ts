import process from "node:process";

// The same suite with more lists; `AGREEMENT_LISTS=5000` takes a quarter of an hour and is for nights and releases.
process.env["AGREEMENT_FULL"] = "1";
process.env["AGREEMENT_LISTS"] ??= "1500";
await import("../agreement/agreement.test.ts");
