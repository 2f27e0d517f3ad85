import { Fate, FATES, fateName } from "../rules/fate.ts";
import { parseAdblockRule } from "../syntax/adblock-rule.ts";
import { quickAscii } from "../syntax/idna.ts";

/** `##`, `#@#`, `#?#` and the like, or a script: for the page, not for its name. */
const PAGE_RULE = /#[@$?%]*#|#%#|\$\$/;
const PATH = /^(?:@@)?(?:\|\|?)?(?:[a-z]+:\/\/)?[^\s/|^$*]*\/.*[^/]$/i;
const PAGE_MODIFIERS =
  /[$,]~?(?:third-party|3p|1p|first-party|script|image|stylesheet|xmlhttprequest|xhr|subdocument|frame|object|media|font|websocket|ping|other|popup|domain|redirect|redirect-rule|rewrite|csp|removeparam|generichide|ghide|elemhide|ehide|document|doc|inline-script|webrtc|match-case)(?:[=,]|$)/;

/** Whether a line that resolvers cannot use is meant for browsers. */
export function isForBrowsers(text: string): boolean {
  return PAGE_RULE.test(text) || PAGE_MODIFIERS.test(text) || PATH.test(text);
}

const NAME = String.raw`[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)+`;
const SEVERAL = new RegExp(String.raw`^${NAME}(?:[\s,;]+${NAME})+[,;]?$`, "u");
const ADDRESS = new RegExp(
  String.raw`^(?:@@)?(?:\|\|?)?(?:[a-z]+:\/\/)?(?<host>${NAME})(?::\d+)?[/?]`,
  "iu",
);
const OTHER_LETTERS = /[\p{L}\p{N}_.-]*[^\u0000-\u007f][\p{L}\p{N}_.-]*/gu;
/** What to write instead, where the text of the line does not say more. */
const BY_FATE: Readonly<Partial<Record<Fate, string>>> = {
  [Fate.PublicSuffix]: "write the names below it, or use ValidateAllowPublicSuffix",
  [Fate.IpAddress]: "use ValidateAllowIp",
  [Fate.TooShort]: "write a whole name",
  [Fate.TooWide]: "write a whole name",
  [Fate.BadRegex]: "correct the expression",
};

/** Why a line of the user is not in the list, and what to write instead. */
export function lineAdvice(text: string, fate: Fate): string {
  const instead = insteadOf(text, fate);
  return instead === undefined
    ? `${fateName(fate)}: ${FATES[fate][2]}`
    : `${fateName(fate)}; ${instead}`;
}

function insteadOf(text: string, fate: Fate): string | undefined {
  const isAllow = text.startsWith("@@");
  if (PAGE_RULE.test(text)) return "it changes a page, and a resolver sees only names";
  if (SEVERAL.test(text)) return "write one name per line";
  const host = ADDRESS.exec(text)?.groups?.["host"];
  if (host !== undefined) return `write ${isAllow ? "@@" : ""}||${quickAscii(host)}^`;
  if (fate === Fate.BadModifier) {
    const { pattern = "" } = parseAdblockRule(text) ?? {};
    return `a resolver does not know one of its modifiers; write ${isAllow ? "@@" : ""}${pattern}`;
  }
  const ascii = text.replace(OTHER_LETTERS, quickAscii);
  return ascii === text ? BY_FATE[fate] : `write ${ascii}`;
}
