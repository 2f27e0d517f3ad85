import { domainToASCII } from "node:url";

/** A name and all its parents, itself first. */
export function withAncestors(name: string): string[] {
  const labels = name.split(".");
  return labels.map((_, from) => labels.slice(from).join("."));
}

export function isAtOrBelow(name: string, parent: string): boolean {
  return name === parent || name.endsWith(`.${parent}`);
}

/** International labels as resolvers are asked for them. Wildcards and separators between them stay. */
export function asciiLabels(text: string): string {
  if (!/[^\u0021-\u007e]/.test(text)) return text;
  return text.replaceAll(/[^|^*./\s]*[^\u0021-\u007e\s][^|^*./\s]*/g, (label) => {
    const ascii = domainToASCII(label);
    return ascii === "" ? label : ascii;
  });
}

/** A name as it stands in a hosts line: case and a final dot do not count. */
export function hostsName(written: string): string {
  return asciiLabels(written).toLowerCase().replace(/\.$/, "");
}
