import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { type Host, HostError } from "../host/host.ts";
import { writeWhole } from "../host/write-whole.ts";
import { isHistory } from "./history-shape.ts";
import { type History, NO_HISTORY } from "./history.ts";

function fileIn(folder: string, host: Host): string {
  return host.path.join(folder, "serve.json");
}

/** The history that an earlier server wrote to a folder. A missing or damaged file yields an empty history. */
export async function readHistory(
  folder: string,
  host: Host,
  onDamaged: () => void,
): Promise<History> {
  try {
    const found: unknown = JSON.parse(decodeUtf8(await host.readFile(fileIn(folder, host))));
    if (isHistory(found)) return { ...NO_HISTORY, ...found };
  } catch (error) {
    if (error instanceof HostError && error.code === "ENOENT") return NO_HISTORY;
    if (!(error instanceof HostError || error instanceof SyntaxError)) throw error;
  }
  onDamaged();
  return NO_HISTORY;
}

/** Rejects with a `HostError`. */
export async function writeHistory(folder: string, history: History, host: Host): Promise<void> {
  const text = encodeUtf8(`${JSON.stringify(history)}\n`);
  await writeWhole(fileIn(folder, host), host, (file) => file.write(text));
}
