import { slugOf } from "../engine/slug.ts";

/** What the templates in the name of a file stand for. */
export interface FileValues {
  /** Of the list. */
  readonly name: string;
  readonly format?: string;
}

/** Fills in `{name}`, `{slug}` and `{format}`: one entry for the files of many lists. Folders are for the template to make, not for a name. */
export function fileNamed(template: string, { name, format }: FileValues): string {
  return template.replace(/\{(?:name|slug|format)\}/g, (found) => {
    if (found === "{slug}") return slugOf(name);
    return found === "{name}" ? namePart(name) : (format ?? found);
  });
}

/** A name as it is, but for what file systems take for something else. */
function namePart(name: string): string {
  // oxlint-disable-next-line no-control-regex
  const part = name
    .replace(/[\u0000-\u001f\u007f/\\:*?"<>|]+/g, "-")
    .replace(/^[.\s]+|[.\s]+$/g, "");
  return part === "" ? slugOf(name) : part;
}
