import { RE2JS } from "re2js";

/** Whether `/…/` holds a regular expression that a resolver can use: RE2 (AdGuard Home) or JavaScript takes it. */
export function regexCompiles(pattern: string): boolean {
  const source = pattern.slice(1, -1);
  try {
    RE2JS.compile(source);
    return true;
  } catch {
    try {
      return new RegExp(source) instanceof RegExp;
    } catch {
      return false;
    }
  }
}
