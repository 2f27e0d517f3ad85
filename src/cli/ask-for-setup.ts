import {
  type ImportedConfig,
  nameOf,
  configOfLists,
  isAddress,
  isFetchable,
} from "../import/imported-config.ts";
import { KNOWN_LISTS } from "../import/known-lists.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host, TextSource } from "../host/host.ts";

/** Asks the user in the terminal for a name and for lists. */
export async function askForSetup(
  usualName: string,
  host: Host,
): Promise<{ setup: ImportedConfig; name: string }> {
  const answers = eachLine(host.stdin!);
  const ask = async (question: string): Promise<string> => {
    host.stderr.write(question);
    const { value, done } = await answers.next();
    if (done === true)
      throw new CompilerError([errorOf("unknown-flag", "No answer; nothing was written")]);
    return withoutKeys(value).trim();
  };
  try {
    const name = (await ask(`Name of the list [${printable(usualName)}]: `)) || usualName;
    const width = Math.max(...KNOWN_LISTS.map((one) => one.name.length));
    for (const [index, one] of KNOWN_LISTS.entries())
      host.stderr.write(`  ${index + 1}  ${one.name.padEnd(width)}  ${one.what}\n`);
    for (;;) {
      const text = (await ask("Which? Numbers, URLs or files, separated by spaces [1]: ")) || "1";
      const words = text.split(/[\s,]+/).filter((word) => word !== "");
      const chosen = words.map((word) => listOf(word));
      const unknown = chosen.findIndex((one) => one === undefined);
      if (unknown === -1) {
        const lists = chosen.map((one) => one!);
        return { setup: configOfLists("", lists), name };
      }
      const word = words[unknown]!;
      const what = isAddress(word) ? "not the URL of a list" : "unknown number";
      host.stderr.write(`  ${what}: ${printable(word, 60)}\n`);
    }
  } finally {
    await answers.return(undefined);
  }
}

/** Removes keys such as Home and the arrows, which are not part of an answer. */
function withoutKeys(line: string): string {
  // oxlint-disable-next-line no-control-regex
  return line.replaceAll(/\u001b(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z]|.)?|[\u0000-\u001f\u007f]/g, "");
}

async function* eachLine(source: TextSource): AsyncGenerator<string> {
  for await (const lines of source.lines()) yield* lines;
}

function listOf(word: string): ImportedConfig["lists"][number] | undefined {
  if (isAddress(word) && !isFetchable(word)) return undefined;
  if (!/^\d+$/.test(word)) return { name: nameOf(word), source: word, type: "adblock", isOn: true };
  const known = KNOWN_LISTS[Number(word) - 1];
  return known && { name: known.name, source: known.source, type: known.type, isOn: true };
}
