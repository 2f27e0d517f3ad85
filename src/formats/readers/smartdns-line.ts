import { Fate } from "../../rules/fate.ts";
import type { LineMeaning } from "./line-by-line.ts";
import { SINKHOLES, baseOf, isName, scopedRule } from "./scoped-rule.ts";

const ADDRESS = /^\s*address\s+\/(?<name>[^/\s]+)\/(?<rest>\S*)\s*(?:#\s.*)?$/;

export const smartdnsLine: LineMeaning = (line) => {
  const { name, rest } = ADDRESS.exec(line)?.groups ?? {};
  if (name === undefined || rest === undefined) {
    if (/^\s*(?:conf-file|domain-set|ip-set)\s/.test(line)) return Fate.NotFollowed;
    const isSetting = /^\s*[a-z][a-z0-9-]*\s+\S/.test(line) && !/^\s*address\s/.test(line);
    return isSetting ? Fate.Setting : Fate.BadSyntax;
  }
  if (!isName(baseOf(name))) return Fate.BadSyntax;
  if (rest === "-") return scopedRule(name, true);
  // Any other address changes the answer.
  return SINKHOLES.test(rest) ? scopedRule(name, false) : Fate.Setting;
};
