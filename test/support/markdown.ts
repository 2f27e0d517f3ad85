import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/**
 * A fenced block of a page: its language, what is written behind it (`title="…"`, `exit=5`, `until=URL`), and its text.
 * A comment that begins with `<!-- sh` is a block, too: commands that the test needs and a reader does not.
 */
export interface Block {
  readonly language: string;
  readonly title?: string;
  readonly text: string;
  /** The exit code of its last command. */
  readonly exit: number;
  /** Its command is a server, which stays in the background; it is ready when this URL answers. */
  readonly until?: string;
  readonly isHidden: boolean;
}

export function blocksOf(page: string): Block[] {
  const found = page.matchAll(/^```(\w+)(.*)\n([^]*?)^```$|^<!-- sh\n([^]*?)^-->$/gm);
  return [...found].map(([, language = "sh", words = "", text, hidden]) => {
    const word = (name: string): string | undefined =>
      new RegExp(` ${name}=(?:"([^"]+)"|(\\S+))`).exec(words)?.slice(1).find(Boolean);
    const [title, until] = [word("title"), word("until")];
    return {
      language,
      text: text ?? hidden!,
      exit: Number(word("exit") ?? 0),
      isHidden: text === undefined,
      ...(title === undefined ? {} : { title }),
      ...(until === undefined ? {} : { until }),
    };
  });
}

/** How a test follows a page. */
interface Reader {
  /** Saves a file that the page shows. */
  write(title: string, text: string): void;
  /** Runs commands in a shell of their own. */
  run(script: string): Promise<{ readonly code: number | null; readonly said: string }>;
}

/** Does what a page shows, in its order, and compares what it prints. Returns the number of lines that were compared. */
export async function follow(blocks: readonly Block[], reader: Reader): Promise<number> {
  let said = "";
  let shown = 0;
  for (const block of blocks) {
    const { language, title, text } = block;
    if (language === "sh" && title === undefined) {
      const ended = await reader.run(scriptOf(block));
      assert.equal(ended.code, block.exit, `${text}\n${ended.said}`);
      if (!block.isHidden) said = ended.said;
    } else if (title === "output") shown += assertShown(said, text);
    else if (title !== undefined && language !== "sh") reader.write(title, text);
  }
  return shown;
}

/** Each line of an output is a part of what was printed, apart from times and builds. Returns the number of lines. */
export function assertShown(said: string, output: string): number {
  const printed = timeless(said);
  const lines = output.trimEnd().split("\n");
  for (const line of lines)
    assert.ok(printed.includes(timeless(line)), `${line}\nis not in:\n${said}`);
  return lines.length;
}

const BACKGROUND = ".background";

function scriptOf({ text, until }: Block): string {
  if (until === undefined) return text;
  return `${text.trimEnd()} > ${BACKGROUND}.log 2>&1 &
echo $! > ${BACKGROUND}
until curl --silent --fail --output ${BACKGROUND}.answer '${until}'; do
  kill -0 $! || { cat ${BACKGROUND}.log; exit 1; }
  sleep 0.1
done
`;
}

/** Ends the server of a page that was followed in a folder. */
export function endBackground(folder: string): void {
  try {
    process.kill(Number(readFileSync(join(folder, BACKGROUND), "utf8")));
  } catch {
    // There is none, or it has ended.
  }
}

/** A text without what differs between two runs: times, durations and builds. */
export function timeless(text: string): string {
  return text
    .replaceAll(/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z| UTC)?)?/g, "#")
    .replaceAll(/ +\d+ ms/g, " # ms")
    .replaceAll(/\b[\da-f]{12}\b/g, "#")
    .replaceAll(/, \d+\.\d s\b/g, ", # s");
}
