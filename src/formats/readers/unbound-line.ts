import { Fate } from "../../rules/fate.ts";
import type { LineMeaning } from "./line-by-line.ts";
import { SINKHOLES, isName, scopedRule } from "./scoped-rule.ts";

const ZONE = /^\s*local-zone:\s*"?(?<name>[^\s"]+?)\.?"?\s+"?(?<kind>[a-z_]+)"?\s*(?:#.*)?$/;
const DATA =
  /^\s*local-data:\s*["'](?<name>[^\s"']+?)\.?\s+(?:\d+\s+)?(?:IN\s+)?(?:A|AAAA)\s+(?<address>[^\s"']+)\s*["']/i;
const BLOCKING_ZONES =
  /^(?:static|deny|refuse|redirect|inform_deny|inform_redirect|always_(?:nxdomain|null|nodata|refuse|deny))$/;
const OTHER_FILE = /^\s*include(?:-toplevel)?:/;
const SETTING = /^\s*[a-z][a-z0-9-]*:/;

/** `local-zone` blocks or allows a name with its subtree; `local-data` blocks only with a sinkhole address. */
export const unboundLine: LineMeaning = (line) => {
  const { name, kind } = ZONE.exec(line)?.groups ?? {};
  if (name !== undefined && kind !== undefined) {
    if (!isName(name)) return Fate.BadSyntax;
    if (kind.endsWith("transparent")) return scopedRule(name, true);
    return BLOCKING_ZONES.test(kind) ? scopedRule(name, false) : Fate.Setting;
  }
  const data = DATA.exec(line)?.groups;
  if (data !== undefined && SINKHOLES.test(data["address"]!))
    return isName(data["name"]!) ? `0.0.0.0 ${data["name"]}` : Fate.BadSyntax;
  if (OTHER_FILE.test(line)) return Fate.NotFollowed;
  if (/^\s*local-zone:/.test(line)) return Fate.BadSyntax;
  return SETTING.test(line) ? Fate.Setting : Fate.BadSyntax;
};
