import type { Host } from "../../host/host.ts";
import { sendToOutput } from "../../host/send-to-output.ts";
import { columnsOf } from "./text-width.ts";
import { wrapScreen } from "./wrap-screen.ts";

/** Prints a text on standard output. On a terminal, lines break only between words. */
export async function showText(text: string, host: Host): Promise<void> {
  await sendToOutput(wrapScreen(text, columnsOf(host.stdout)), host);
}
