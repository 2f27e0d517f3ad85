import process from "node:process";

/** `NIGHTLY=1` runs suites in full size; the gate runs a smaller form of each. */
export const isNightly: boolean = process.env["NIGHTLY"] === "1";
