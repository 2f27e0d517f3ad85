import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { printable } from "../diagnostics/text.ts";
import { nameFormats } from "../formats/formats.ts";
import {
  type FormatLines,
  LONGEST_NAME,
  type NameFormat,
  commentHeader,
} from "../formats/name-format.ts";
import { transformationRegistry } from "../transformations/registry.ts";
import { type Transformation, ownTransformation } from "../transformations/stage.ts";

/** A user's plugin: the default export of the module. */
export interface Plugin {
  /** By the name that configurations use. */
  readonly transformations?: Readonly<Record<string, PluginTransformation>>;
  /** By the name that configurations use. */
  readonly formats?: Readonly<Record<string, PluginFormat>>;
}

/** A transformation of single rules. */
export interface PluginTransformation {
  /** One line, for display. */
  readonly summary?: string;
  /** Gets the text of every rule. Returns it, or a new text, or nothing to drop the rule. */
  rule(text: string): string | undefined | null;
}

/** A format of one or more lines per name. */
export interface PluginFormat {
  /** One line, for display. */
  readonly summary?: string;
  /** For files without a configured name. Default: `.txt`. */
  readonly extension?: string;
  /** Lines with `%` for the name. Rules without such lines cannot be expressed, and are reported. */
  readonly lines: FormatLines;
  /** The prefix of a comment. Without it, the file has no header. */
  readonly comment?: string;
}

/** Everything that plugins provide, by name. */
export interface Plugins {
  readonly transformations: ReadonlyMap<string, Transformation>;
  readonly formats: ReadonlyMap<string, NameFormat>;
}

export const NO_PLUGINS: Plugins = { transformations: new Map(), formats: new Map() };

/** Loads modules. Throws a `CompilerError` for an invalid plugin or a name that is taken. */
export function pluginsOf(
  modules: readonly { readonly file: string; readonly module: unknown }[],
): Plugins {
  const own = new Map<string, Transformation>();
  const formats = new Map<string, NameFormat>();
  for (const { file, module } of modules) {
    const plugin = (module as { default?: unknown } | undefined)?.default as Plugin | undefined;
    if (
      typeof plugin !== "object" ||
      plugin === null ||
      (plugin.transformations ?? plugin.formats) === undefined
    )
      throw bad(file, "its default export has neither `transformations` nor `formats`");
    for (const [name, one] of Object.entries(plugin.transformations ?? {})) {
      if (transformationRegistry.has(name) || own.has(name))
        throw bad(file, `there is a transformation ${name} already`);
      if (typeof one?.rule !== "function") throw bad(file, `${name} has no function \`rule\``);
      own.set(
        name,
        ownTransformation(name, one.summary ?? "", (text) => one.rule(text)),
      );
    }
    for (const [name, one] of Object.entries(plugin.formats ?? {})) {
      if (typeof one !== "object" || one === null) throw bad(file, `${name} is not a format`);
      if (nameFormats.has(name) || formats.has(name))
        throw bad(file, `the format ${name} already exists`);
      formats.set(name, formatOf(one, name, file));
    }
  }
  return { transformations: own, formats };
}

const LINE_KEYS: ReadonlySet<string> = new Set([
  "subtree",
  "exact",
  "below",
  "allowSubtree",
  "allowExact",
  "allowBelow",
  "regex",
  "rule",
]);

function formatOf(
  { summary, extension, lines, comment }: PluginFormat,
  name: string,
  file: string,
): NameFormat {
  const entries = Object.entries(lines ?? {}) as [string, unknown][];
  const isGood = entries.every(
    ([key, value]) =>
      LINE_KEYS.has(key) &&
      Array.isArray(value) &&
      value.every((line) => typeof line === "string" && line.includes("%") && !/[\r\n]/.test(line)),
  );
  if (entries.length === 0 || !isGood)
    throw bad(
      file,
      `the lines of ${name} must be lists of strings with % for the name: ${[...LINE_KEYS].join(", ")}`,
    );
  return {
    summary: summary ?? "",
    usedBy: "",
    extension: extension ?? ".txt",
    answers: [],
    lines: () => lines,
    header: comment === undefined ? () => [] : commentHeader(comment),
    longestName: () => LONGEST_NAME,
    memoryPerName: nameFormats.get("domains")!.memoryPerName,
  };
}

function bad(file: string, cause: string): CompilerError {
  return new CompilerError([
    errorOf("plugin-bad", `${printable(file)} is not a plugin`, { cause: printable(cause, 300) }),
  ]);
}
