import { slugOf } from "../engine/slug.ts";

/** The values for the placeholders in a file name. */
export interface FileValues {
  /** The name of the list. */
  readonly name: string;
  readonly format?: string;
  /** The name of a source. */
  readonly source?: string;
}

/** Replaces `{name}`, `{slug}`, `{format}` and `{source}`. A value cannot add folders; the template can. */
export function fileNamed(template: string, { name, format, source }: FileValues): string {
  return template.replace(/\{(?:name|slug|format|source)\}/g, (found) => {
    if (found === "{slug}") return slugOf(name);
    if (found === "{source}") return source === undefined ? found : slugOf(source);
    return found === "{name}" ? namePart(name) : (format ?? found);
  });
}

/** Replaces the characters that file systems do not allow in names. */
function namePart(name: string): string {
  // oxlint-disable-next-line no-control-regex
  const part = name
    .replace(/[\u0000-\u001f\u007f/\\:*?"<>|]+/g, "-")
    .replace(/^[.\s]+|[.\s]+$/g, "");
  return part === "" ? slugOf(name) : part;
}
