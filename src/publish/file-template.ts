import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { someOf } from "../diagnostics/some-of.ts";
import { slugOf } from "../engine/slug.ts";

/** The values for the placeholders in a file name. */
export interface FileValues {
  /** The name of the list. */
  readonly name: string;
  readonly format?: string;
}

/** Replaces `{name}`, `{slug}` and `{format}`. A value cannot add folders; the template can. */
export function fileNamed(template: string, { name, format }: FileValues): string {
  return template.replace(/\{(?:name|slug|format)\}/g, (found) => {
    if (found === "{slug}") return slugOf(name);
    return found === "{name}" ? namePart(name) : (format ?? found);
  });
}

/** Throws a `CompilerError` if a template has a placeholder that is not among the known ones. `where` is its field. */
export function checkTemplate(
  template: string | undefined,
  known: readonly string[],
  where: string,
): void {
  const found = template?.match(/\{\w+\}/g)?.find((one) => !known.includes(one));
  if (found === undefined) return;
  const problem = `${printable(found, 60)} is unknown`;
  throw new CompilerError([
    errorOf("config-invalid", `Invalid configuration: ${where}: ${problem}`, {
      hint: `Known here: ${someOf(known)}`,
    }),
  ]);
}

/** Replaces the characters that file systems do not allow in names. */
function namePart(name: string): string {
  // oxlint-disable-next-line no-control-regex
  const part = name
    .replace(/[\u0000-\u001f\u007f/\\:*?"<>|]+/g, "-")
    .replace(/^[.\s]+|[.\s]+$/g, "");
  return part === "" ? slugOf(name) : part;
}
