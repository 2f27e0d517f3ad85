import { LineTemplate } from "./line-template.ts";
import type { FormatLines } from "./name-format.ts";
import { type ScopeKey, isBlockKey } from "./scope-key.ts";
import type { ScopedName } from "./name-encoder.ts";

/** The lines of one name or one rule. */
export interface Entry {
  /** Complete lines. */
  readonly text: string;
  readonly source: number;
  /** A name with its scope, or the text of a rule. */
  readonly of: { readonly name: string; readonly key: ScopeKey } | string;
  /** Whether it blocks something. Entries that do not are exceptions and must never be left out. */
  readonly blocks: boolean;
  /** Whether it goes into the file of exceptions. */
  readonly isInAllowFile?: boolean;
  /** Whether it is a rule without a name, such as a pattern. */
  readonly isRule?: boolean;
  /** Whether it is a name without its subdomains. */
  readonly isExact?: boolean;
  /** Entries of one group depend on each other. */
  readonly group?: number;
}

/** Turns scoped names into lines of a format. */
export class EntryTexts {
  private readonly lines: FormatLines;
  private readonly hasAllowFile: boolean;
  private readonly templates = new Map<readonly string[], LineTemplate>();

  constructor(lines: FormatLines, hasAllowFile: boolean) {
    this.lines = lines;
    this.hasAllowFile = hasAllowFile;
  }

  entry(of: ScopedName): Entry {
    const { name, source, key, isImportant } = of;
    const { important } = this.lines;
    const marked =
      isImportant && important !== undefined && key in important
        ? important[key as keyof typeof important]
        : undefined;
    const blocks = isBlockKey(key);
    const text = this.template(marked ?? this.lines[key]!).text(name);
    const isExact = key === "exact" || key === "allowExact";
    return { text, source, of, blocks, isInAllowFile: this.hasAllowFile && !blocks, isExact };
  }

  private template(lines: readonly string[]): LineTemplate {
    let template = this.templates.get(lines);
    if (template === undefined) this.templates.set(lines, (template = new LineTemplate(lines)));
    return template;
  }
}
