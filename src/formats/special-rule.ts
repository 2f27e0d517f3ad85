import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { cancelledKey } from "../meaning/rule.ts";
import { parseAdblockRule } from "../syntax/adblock-rule.ts";
import { hostsLine, nextName, readHostsLine } from "../syntax/hosts-line.ts";
import { quickAscii } from "../syntax/idna.ts";
import { isLocalName } from "../syntax/local-names.ts";
import { isRegexText } from "../syntax/regex-rule.ts";

/** Why a rule cannot be said in a format, or not as it is meant. */
export const LOSS_REASONS = {
  modifier: "Speaks of some clients, kinds of questions or parts of a name only.",
  rewrite: "Changes an answer instead of refusing it.",
  regex: "A regular expression.",
  pattern: "A wildcard, or a part of a name.",
  "not-a-name":
    "For no name that a resolver can be asked for: an address, a name of this machine, one that is too long.",
  exact: "For a name alone, where the format means all names below it too.",
  below: "For the names below a name, but not for itself.",
  excepted:
    "Blocks a name with something below it that must stay reachable, which the format cannot say.",
  exception: "An exception that the format cannot say; the name is blocked (`widen`).",
  nested: "Blocks something below an exception, where an exception always wins.",
  narrowed:
    "For everything below a name, where the format means the name alone: the name is written.",
} as const;
export type LossReason = keyof typeof LOSS_REASONS;

/** Who wins, least first: a block, an exception, an important block, an important exception. Odd ones block. */
export const Level = { None: 0, Block: 1, Allow: 2, ImportantBlock: 3, ImportantAllow: 4 } as const;
export type Level = (typeof Level)[keyof typeof Level];

export function isBlock(level: Level): boolean {
  return level % 2 === 1;
}

/** A rule for a name. */
export interface NameRule {
  readonly name: string;
  readonly level: Level;
  /** Whether it is for the name itself, and for all below it. */
  readonly self: boolean;
  readonly below: boolean;
}

export type ReadRule =
  | { readonly kind: "names"; readonly rules: readonly NameRule[] }
  /** Takes back a rule of this text. */
  | { readonly kind: "cancel"; readonly text: string }
  | { readonly kind: "lost"; readonly reason: LossReason; readonly regex?: string };

/** Reads a line of the list that is more than `||name^`. */
export function readSpecialRule(text: string): ReadRule {
  const cancelled = cancelledKey(text);
  if (cancelled !== undefined) return { kind: "cancel", text: cancelled };
  const hosts = readHosts(text);
  if (hosts !== undefined) return hosts;
  const rule = parseAdblockRule(text);
  if (rule === undefined) return lost("pattern");
  const { pattern, modifiers, isAllow } = rule;
  const names = modifiers.map(({ name }) => name);
  if (names.includes("dnsrewrite")) return lost("rewrite");
  if (names.some((name) => name !== "important")) return lost("modifier");
  if (isRegexText(pattern)) {
    const isPlain = !isAllow && modifiers.length === 0;
    return isPlain ? { ...lost("regex"), regex: pattern.slice(1, -1) } : lost("regex");
  }
  const isImportant = names.length > 0;
  const level = isAllow
    ? isImportant
      ? Level.ImportantAllow
      : Level.Allow
    : isImportant
      ? Level.ImportantBlock
      : Level.Block;
  return readPattern(pattern, level, level === Level.Block);
}

function lost(reason: LossReason): { kind: "lost"; reason: LossReason } {
  return { kind: "lost", reason };
}

const SHAPES: readonly (readonly [RegExp, { readonly self: boolean; readonly below: boolean }])[] =
  [
    [/^\|\|(?<name>[^*|^/]+)\^\|?$/, { self: true, below: true }],
    [/^\|(?<name>[^*|^/]+)[|^]$/, { self: true, below: false }],
    [/^(?:\|\|)?\*\.(?<name>[^*|^/]+)\^?$/, { self: false, below: true }],
  ];
const BARE: (typeof SHAPES)[number] = [
  /^(?<name>[^*|^/.][^*|^/]*\.[^*|^/]*)$/,
  { self: true, below: false },
];

/** A bare name means itself only where nothing stands before or behind it; otherwise it is a part of names. */
function readPattern(pattern: string, level: Level, mayBeBare: boolean): ReadRule {
  for (const [shape, scope] of mayBeBare ? [...SHAPES, BARE] : SHAPES) {
    const written = shape.exec(pattern)?.groups?.["name"];
    if (written === undefined) continue;
    const name = resolvableName(written);
    return name === undefined
      ? lost("not-a-name")
      : { kind: "names", rules: [{ name, level, ...scope }] };
  }
  return lost("pattern");
}

function readHosts(text: string): ReadRule | undefined {
  const bytes = encodeUtf8(text);
  if (!readHostsLine(bytes, 0, bytes.length)) return undefined;
  if (!hostsLine.isSinkhole) return lost("rewrite");
  const rules: NameRule[] = [];
  do {
    const name = resolvableName(decodeUtf8(bytes, hostsLine.nameStart, hostsLine.nameEnd));
    if (name !== undefined) rules.push({ name, level: Level.Block, self: true, below: false });
  } while (nextName(bytes));
  return rules.length === 0 ? lost("not-a-name") : { kind: "names", rules };
}

const LABEL = /^[a-z0-9_-]{1,63}$/;
const LONGEST = 253;

/** A name as resolvers are asked for it; undefined for what is none, or only means this machine. */
export function resolvableName(written: string): string | undefined {
  const ascii = /[^\u0021-\u007e]/.test(written) ? quickAscii(written) : written;
  const name = ascii.toLowerCase().replace(/\.$/, "");
  if (name === "" || name.length > LONGEST || isLocalName(name)) return undefined;
  const labels = name.split(".");
  // In a policy zone these are addresses of clients and servers, not names.
  if (labels.at(-1)!.startsWith("rpz-")) return undefined;
  if (!labels.every((label) => LABEL.test(label))) return undefined;
  // An address, or something that only looks like one: no top-level domain is a number.
  return /^\d+$/.test(labels.at(-1)!) ? undefined : name;
}
