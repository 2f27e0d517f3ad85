/** Addresses that block a name. */
export const SINKHOLES: RegExp = /^(?:#|0\.0\.0\.0|127(?:\.\d{1,3}){3}|::1?|)$/;

/** Characters with a meaning in adblock syntax, and other invalid parts of a name. */
const NOT_IN_NAMES = /[\s/^|*$\\",@()!#[\]]|^\.|\.\.|\.$|^$/;

export function isName(text: string): boolean {
  return !NOT_IN_NAMES.test(text);
}

/** The rule for a name and all names below it, or for the name alone. `*.name` means the names below it. */
export function scopedRule(name: string, isAllow: boolean, isExact = false): string {
  const start = isAllow ? "@@" : "";
  if (name.startsWith("*.")) return `${start}||${name}^`;
  return isExact ? `${start}|${name}^` : `${start}||${name}^`;
}

/** The name without a leading `*.`. */
export function baseOf(name: string): string {
  return name.startsWith("*.") ? name.slice(2) : name;
}
