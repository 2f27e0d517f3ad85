import { pathToFileURL } from "node:url";
import { printable } from "../../diagnostics/printable.ts";
import type { Style } from "../../diagnostics/render.ts";
import type { LineLocation } from "../../explain/why.ts";

/** The text as a link to the file or URL, if the terminal supports links. */
export function locationLink(
  text: string,
  { path, file, line }: LineLocation,
  style: Style,
): string {
  const address = path === undefined ? file : `${pathToFileURL(path).href}#L${line}`;
  return style.link(text, URL.canParse(address) ? address : undefined);
}

/** `source:line`; rules that the allowlist added have no line. */
export function locationText({ source, line }: LineLocation, most = 60): string {
  const shown = printable(source, most);
  return line === 0 ? shown : `${shown}:${line}`;
}
