import type { ConfigNode } from "./config-node.ts";

export const WITHOUT_QUOTES = "Write it without quotes";

/** Whether a value would have the right type without its quotes. */
export function isQuoted(node: ConfigNode, form: RegExp): boolean {
  return node.kind === "scalar" && typeof node.value === "string" && form.test(node.value);
}

/** What to write in place of a value that is not a string. */
export function textHint(node: ConfigNode): string {
  return node.kind === "scalar" && node.value !== null ? "Put it in quotes" : "Give it a string";
}
