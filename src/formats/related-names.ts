import { addEnd, addWhole } from "../kernel/name-reader.ts";
import { withParents } from "../syntax/parents.ts";
import type { PatternException } from "./pattern-exceptions.ts";

/** Finds the few names that are related to other rules. */
export class RelatedNames {
  /** Filters that exclude most names quickly. */
  private readonly filters: readonly Uint8Array[];
  /** Whether all names are related to others. */
  isAll = false;
  private readonly names = new Set<string>();
  private readonly parents = new Set<string>();
  /** The last two labels of names that are related whatever comes before. */
  private readonly tails = new Set<string>();
  /** By top-level domain, the suffixes of related names; "" for all names. */
  private readonly tops = new Map<string, string[]>();
  private hasPatterns = false;

  constructor(...filters: readonly Uint8Array[]) {
    this.filters = filters;
  }

  get isEmpty(): boolean {
    const isEmpty = [this.names, this.tails, this.tops].every(({ size }) => size === 0);
    return isEmpty && !this.isAll && !this.hasPatterns;
  }

  takeAll(): void {
    this.isAll = true;
    for (const filter of this.filters) filter.fill(255);
  }

  /** Adds a name: it is related to its parents and to everything below it. */
  addName(name: string, isBelow: boolean): void {
    if (this.isOneLabel(name, isBelow) || this.names.has(name)) return;
    this.names.add(name);
    this.filterEnd(name);
    for (const parent of withParents(name).slice(1)) {
      if (this.parents.has(parent)) return;
      this.parents.add(parent);
      for (const filter of this.filters) addWhole(filter, parent);
    }
  }

  /** Adds a name that is related to all names with the same last two labels. */
  addFamily(name: string, isBelow: boolean): void {
    if (!this.isOneLabel(name, isBelow)) this.addFamilyTail(tailOf(name));
  }

  addException({ end, isEndSure }: PatternException): void {
    if (!isEndSure) this.hasPatterns = true;
    const labels = end.split(".");
    // The first label may be the end of a longer one.
    if (labels.length > 2) this.addFamilyTail(labels.slice(-2).join("."));
    else if (labels.length === 2) this.addTop(labels[1]!, end);
  }

  /** A rule for a whole top-level domain is related to everything in it. */
  private isOneLabel(name: string, isBelow: boolean): boolean {
    if (name.includes(".")) return false;
    if (isBelow) this.addTop(name, "");
    return true;
  }

  private addTop(top: string, end: string): void {
    this.tops.set(top, [...(this.tops.get(top) ?? []), end]);
    this.filterEnd(top);
  }

  private addFamilyTail(tail: string): void {
    this.tails.add(tail);
    this.filterEnd(tail);
  }

  private filterEnd(name: string): void {
    for (const filter of this.filters) addEnd(filter, name);
  }

  has(name: string): boolean {
    if (this.isAll || this.parents.has(name) || this.tails.has(tailOf(name))) return true;
    const ends = this.tops.get(name.slice(name.lastIndexOf(".") + 1));
    if (ends?.some((end) => name.endsWith(end)) === true) return true;
    return this.names.size > 0 && withParents(name).some((one) => this.names.has(one));
  }
}

/** The last two labels of a name. */
function tailOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return name.slice(name.lastIndexOf(".", dot - 1) + 1);
}
