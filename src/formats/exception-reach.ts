import { LiteralIndex } from "../meaning/literal-index.ts";
import { Level, stronger } from "./level.ts";

/** How strongly pattern exceptions can free names below a name. Indexed, because lists have many names and many exceptions. */
export class ExceptionReach {
  /** By the suffix of the names that they are meant for. */
  private readonly byEnd = new Map<string, Level>();
  /** The same suffixes, by their parents. */
  private readonly byParent = new Map<string, Level>();
  /** The top-level domains of those suffixes; most names have another one. */
  private readonly tops = new Set<string>();
  /** By words that occur in the names that they are meant for. */
  private readonly levels = new Map<string, Level>();
  private readonly words = new LiteralIndex<string>();

  addEnd(end: string, level: Level): void {
    raise(this.byEnd, end, level);
    this.tops.add(topOf(end));
    for (let dot = end.indexOf("."); dot !== -1; dot = end.indexOf(".", dot + 1))
      raise(this.byParent, end.slice(dot + 1), level);
  }

  addWord(word: string, level: Level): void {
    if (!this.levels.has(word)) this.words.add([word], word);
    raise(this.levels, word, level);
  }

  below(name: string): Level {
    let level: Level = Level.None;
    if (this.tops.has(topOf(name))) {
      level = this.byParent.get(name) ?? level;
      for (let at = 0; at < name.length; at++)
        level = stronger(level, this.byEnd.get(name.slice(at)) ?? Level.None);
    }
    if (this.levels.size === 0) return level;
    for (const word of this.words.candidates(name))
      if (name.includes(word)) level = stronger(level, this.levels.get(word)!);
    return level;
  }
}

function topOf(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

function raise(levels: Map<string, Level>, key: string, level: Level): void {
  levels.set(key, stronger(levels.get(key) ?? Level.None, level));
}
