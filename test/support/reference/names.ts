import { domainToASCII } from "node:url";

const MOST_KNOWN = 100_000;
const known = new Map<string, readonly string[]>();

/** A name and all its parents, itself first. Remembered, as the same names are asked of many readers. */
export function withAncestors(name: string): readonly string[] {
  const found = known.get(name);
  if (found !== undefined) return found;
  const labels = name.split(".");
  const ancestors = labels.map((_, from) => labels.slice(from).join("."));
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(name, ancestors);
  return ancestors;
}

export function isAtOrBelow(name: string, parent: string): boolean {
  return name === parent || name.endsWith(`.${parent}`);
}

/** International labels as resolvers are asked for them. Wildcards and separators between them stay. */
export function asciiLabels(text: string): string {
  if (!/[^\u0021-\u007e]/.test(text)) return text;
  return text.replaceAll(/[^|^*./\s]*[^\u0021-\u007e\s][^|^*./\s]*/g, (label) => {
    // Of `com\é` the function would return `com`.
    const ascii = /[\\?#@:[\]%]/.test(label) ? "" : domainToASCII(label);
    return ascii === "" ? label : ascii;
  });
}

/** A name as it stands in a hosts line: case and a final dot do not count. */
export function hostsName(written: string): string {
  return asciiLabels(written).toLowerCase().replace(/\.$/, "");
}
