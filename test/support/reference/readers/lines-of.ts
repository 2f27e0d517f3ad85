/** The lines of a file that are neither empty nor comments. */
export function linesOf(text: string, comment: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith(comment));
}

/** A file that the software would not load, or not as it is meant. */
export class RefusedFile extends Error {}
