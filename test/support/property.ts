import process from "node:process";
import { isNightly } from "./nightly.ts";
import { seedFrom } from "./random.ts";

/** Options for `fc.assert`: a fixed seed in the gate, a new one and ten times as many cases at night. */
export function propertyRuns(cases: number): { readonly seed: number; readonly numRuns: number } {
  return {
    seed: seedFrom(process.env["FUZZ_SEED"]),
    numRuns: isNightly ? cases * 10 : cases,
  };
}
