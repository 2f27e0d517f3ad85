import { printable } from "./printable.ts";

/** The system's words for a refusal, without the code twice and without the call it came from. */
export function reasonOf(code: string, message: string): string {
  const words = message.replace(/^[A-Z][A-Z0-9_]+: /, "").replace(/, \w+ '.*'$/s, "");
  return printable(`${code}: ${words}`);
}
