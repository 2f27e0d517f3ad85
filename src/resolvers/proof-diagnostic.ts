import type { Outcome } from "../build/state/last-proof.ts";
import type { Code } from "../diagnostics/codes.ts";
import { type Diagnostic, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Proof } from "./prove.ts";

const CODES: Readonly<Record<Exclude<Outcome, "proved">, Code>> = {
  stale: "resolver-stale",
  unfiltered: "resolver-unfiltered",
  wrong: "resolver-wrong",
  unreachable: "resolver-unreachable",
};

/** The problem of a resolver; empty if it is proved. */
export function proofDiagnostics({ resolver, outcome, detail }: Proof): Diagnostic[] {
  if (outcome === "proved") return [];
  const message = `The resolver ${printable(resolver, 60)} is ${outcome}`;
  return [errorOf(CODES[outcome], message, { cause: detail })];
}
