import { Fate } from "../rules/fate.ts";
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
/** A longer line gets the advice of its fate: some expressions take quadratic time. */
const LONGEST_LINE = 300;
/** What to write instead, where the text of the line does not say more. */
const BY_FATE: Readonly<Partial<Record<Fate, string>>> = {
  [Fate.PublicSuffix]: "write the names below it, or use ValidateAllowPublicSuffix",
  [Fate.IpAddress]: "use ValidateAllowIp",
  [Fate.TooShort]: "write a whole name",
  [Fate.TooWide]: "write a whole name",
  [Fate.BadRegex]: "correct the expression",
};

/** What the author of a line, which is not in the list, can do about it. */
export function lineAdvice(text: string, fate: Fate): string {
  const advice = insteadOf(text, fate) ?? "correct the line, or remove it";
  return `${advice[0]!.toUpperCase()}${advice.slice(1)}`;
}

function insteadOf(text: string, fate: Fate): string | undefined {
  if (text.length > LONGEST_LINE) return BY_FATE[fate];
  const isAllow = text.startsWith("@@");
  if (PAGE_RULE.test(text))
    return "remove the line: it changes a page, and a resolver sees only names";
  if (SEVERAL.test(text)) return "write one name per line";
  const host = ADDRESS.exec(text)?.groups?.["host"];
  if (host !== undefined) return `write ${isAllow ? "@@" : ""}||${quickAscii(host)}^`;
  if (fate === Fate.BadModifier) {
    const { pattern = "" } = parseAdblockRule(text) ?? {};
    return `write ${isAllow ? "@@" : ""}${pattern} without the modifiers that a resolver does not know`;
  }
  const ascii = text.replace(OTHER_LETTERS, quickAscii);
  return ascii === text ? BY_FATE[fate] : `write ${ascii}`;
}
