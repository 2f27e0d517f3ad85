/** What an address says of a name: that there is none. */
export const SINKHOLES: RegExp = /^(?:#|0\.0\.0\.0|127(?:\.\d{1,3}){3}|::1?|)$/;

/** What would turn a name into something else in adblock syntax, or breaks the line. */
const NOT_IN_NAMES = /[\s/^|*$\\",@()!#[\]]|^\.|\.\.|\.$|^$/;

export function isName(text: string): boolean {
  return !NOT_IN_NAMES.test(text);
}

/** The rule for a name and all below it, or for the name alone. `*.name` is everything below it, without itself. */
export function scopedRule(name: string, isAllow: boolean, isExact = false): string {
  const start = isAllow ? "@@" : "";
  if (name.startsWith("*.")) return `${start}||${name}^`;
  return isExact ? `${start}|${name}^` : `${start}||${name}^`;
}

/** The name without `*.` before it. */
export function baseOf(name: string): string {
  return name.startsWith("*.") ? name.slice(2) : name;
}
