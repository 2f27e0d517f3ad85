import { pathToFileURL } from "node:url";
import { printable } from "../../diagnostics/printable.ts";
import type { Style } from "../../diagnostics/render.ts";
import type { LineLocation } from "../../explain/why.ts";

/** The same, leading to the file or the address where the terminal can. The text may have been cut or padded. */
export function placeLink(text: string, { path, file, line }: LineLocation, style: Style): string {
  const shown = text.trimEnd();
  const address = path === undefined ? file : `${pathToFileURL(path).href}#L${line}`;
  const target = URL.canParse(address) ? address : undefined;
  return style.link(shown, target) + " ".repeat(text.length - shown.length);
}

/** `source:line`; what no source has is there for the allow-list, and has no line. */
export function placeText({ source, line }: LineLocation, most = 60): string {
  const shown = printable(source, most);
  return line === 0 ? shown : `${shown}:${line}`;
}
