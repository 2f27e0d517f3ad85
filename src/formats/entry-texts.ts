import { LineTemplate } from "./line-template.ts";
import type { Lines } from "./name-format.ts";
import { isBlockKey } from "./scope-key.ts";
import type { ScopedName } from "./name-encoder.ts";

/** What is written for one name, or for one rule. */
export interface Entry {
  /** Whole lines. */
  readonly text: string;
  readonly source: number;
  /** Whether it blocks something. What does not must never be missing. */
  readonly blocks: boolean;
  /** Whether it goes into the file of exceptions. */
  readonly isApart?: boolean;
  /** Whether it is a rule that is for no name. */
  readonly isRule?: boolean;
  /** Entries of one group mean what they mean together. */
  readonly group?: number;
}

/** Makes lines of what is said of names. */
export class EntryTexts {
  private readonly lines: Lines;
  private readonly hasAllowFile: boolean;
  private readonly templates = new Map<readonly string[], LineTemplate>();

  constructor(lines: Lines, hasAllowFile: boolean) {
    this.lines = lines;
    this.hasAllowFile = hasAllowFile;
  }

  entry({ name, source, key, isImportant }: ScopedName): Entry {
    const { important } = this.lines;
    const marked =
      isImportant && important !== undefined && key in important
        ? important[key as keyof typeof important]
        : undefined;
    const blocks = isBlockKey(key);
    const text = this.template(marked ?? this.lines[key]!).text(name);
    return { text, source, blocks, isApart: this.hasAllowFile && !blocks };
  }

  private template(lines: readonly string[]): LineTemplate {
    let template = this.templates.get(lines);
    if (template === undefined) this.templates.set(lines, (template = new LineTemplate(lines)));
    return template;
  }
}
