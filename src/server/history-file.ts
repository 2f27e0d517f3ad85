import type { Host } from "../host/host.ts";
import { StateFile } from "../host/state-file.ts";
import { isHistory } from "./history-shape.ts";
import { type History, NO_HISTORY } from "./history.ts";

function fileIn(folder: string, host: Host): StateFile<History> {
  return new StateFile(host.path.join(folder, "serve.json"), isHistory, host);
}

/** The history that an earlier server wrote to a folder. A missing or damaged file yields an empty history. */
export async function readHistory(
  folder: string,
  host: Host,
  onDamaged: () => void,
): Promise<History> {
  const found = await fileIn(folder, host).look();
  if (found === "damaged") onDamaged();
  return typeof found === "string" ? NO_HISTORY : { ...NO_HISTORY, ...found };
}

/** Rejects with a `HostError`. */
export async function writeHistory(folder: string, history: History, host: Host): Promise<void> {
  await fileIn(folder, host).write(history);
}
