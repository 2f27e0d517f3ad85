import { cancelledKey, readRule } from "../meaning/rule.ts";
import { type Modifier, formatAdblockRule, parseAdblockRule } from "../syntax/adblock-rule.ts";
import { isIpv4Text, isIpv6Text } from "../syntax/hosts-line.ts";
import { namesOfLine } from "../meaning/line.ts";
import { resolvableName } from "./special-rule.ts";

/** The devices that a file in adblock syntax is for, as AdGuard Home knows them. One that has both must be in both. */
export interface Devices {
  /** Names, addresses and ranges of addresses. */
  readonly clients: readonly string[];
  readonly tags: readonly string[];
}

/** The end of a rule for these devices, and for no other. */
export function deviceTail(devices: Devices | undefined): string {
  const modifiers = devices === undefined ? [] : modifiersOf(devices);
  return formatAdblockRule({ isAllow: false, pattern: "", modifiers });
}

function modifiersOf({ clients, tags }: Devices): Modifier[] {
  return [
    ...(clients.length === 0 ? [] : [{ name: "client", value: clients.map(written).join("|") }]),
    ...(tags.length === 0 ? [] : [{ name: "ctag", value: tags.join("|") }]),
  ];
}

/** A client as the value of a modifier: commas, pipes and quotes would end it. */
function written(client: string): string {
  if (/^[\w.:/-]+$/.test(client)) return client;
  return `'${client.replaceAll(/[',|$]/g, String.raw`\$&`)}'`;
}

/** What a rule of the list becomes in a file for some devices. */
interface DeviceRules {
  readonly rules: readonly string[];
  /** Whether it does the same for these devices as the rule of the list. */
  readonly isExact: boolean;
}

/** A rule that no device of the file can meet. */
const NONE: DeviceRules = { rules: [], isExact: true };

/**
 * A line of the list for some devices only. A `$badfilter` rule has done its work, since what it cancels is not in the file: with the
 * modifiers of the file it could cancel other rules, which have the same modifiers now.
 */
export function rulesFor(
  line: string,
  devices: Devices,
  isCancelled: (key: string) => boolean,
): DeviceRules {
  if (cancelledKey(line) !== undefined) return NONE;
  const named = nameRules(line);
  if (named !== undefined)
    return { rules: named.map((rule) => withModifiers(rule, modifiersOf(devices))), isExact: true };
  const rule = parseAdblockRule(line);
  if (rule === undefined) return NONE;
  const key = readRule(line, () => () => false)?.key;
  if (key !== undefined && isCancelled(key)) return NONE;
  const own = rule.modifiers.filter(({ name }) => name !== "client" && name !== "ctag");
  const clients = merged(valueOf(rule.modifiers, "client"), devices.clients.map(written), both);
  const tags = merged(valueOf(rule.modifiers, "ctag"), devices.tags, bothTags);
  if (clients === "none" || tags === "none") return NONE;
  if (clients !== "unknown" && tags !== "unknown")
    return {
      rules: [
        formatAdblockRule({
          ...rule,
          modifiers: [...own, ...listed("client", clients), ...listed("ctag", tags)],
        }),
      ],
      isExact: true,
    };
  // Less is blocked than in the list, never more.
  if (!rule.isAllow) return { rules: [], isExact: false };
  const wider = formatAdblockRule({ ...rule, modifiers: [...own, ...modifiersOf(devices)] });
  return { rules: [wider], isExact: false };
}

/** A line with a name alone, or with an address before it, as rules; undefined for rules. */
function nameRules(line: string): string[] | undefined {
  const address = /^\S+(?=\s)/.exec(line)?.[0] ?? "";
  const isHosts = isIpv4Text(address) || isIpv6Text(address);
  if (!isHosts && !/^[a-z0-9_][\w-]*(?:\.[\w-]+)+(?:\s+#.*)?$/i.test(line)) return undefined;
  const names = namesOfLine(line).flatMap((name) => resolvableName(name) ?? []);
  const isSinkhole = /^(?:0\.0\.0\.0|127\.0\.0\.1|::1?|0(?::0){7}|0(?::0){6}:1)$/.test(address);
  const tail = isHosts && !isSinkhole ? `$dnsrewrite=${address}` : "";
  return names.map((name) => `|${name}^${tail}`);
}

function withModifiers(text: string, modifiers: readonly Modifier[]): string {
  const rule = parseAdblockRule(text)!;
  return formatAdblockRule({ ...rule, modifiers: [...rule.modifiers, ...modifiers] });
}

function valueOf(modifiers: readonly Modifier[], wanted: string): string | undefined {
  // Of several, AdGuard Home uses the last.
  return modifiers.findLast(({ name }) => name === wanted)?.value;
}

function listed(name: string, values: readonly string[]): Modifier[] {
  return values.length === 0 ? [] : [{ name, value: values.join("|") }];
}

type Merged = readonly string[] | "none" | "unknown";
type Both = (own: readonly string[], file: readonly string[]) => readonly string[] | "unknown";

/** The values for devices that the rule and the file are for. */
function merged(value: string | undefined, file: readonly string[], find: Both): Merged {
  const all = value === undefined ? [] : value.split(/(?<!\\)\|/);
  const excluded = all.filter((one) => one.startsWith("~"));
  const own = all.filter((one) => !one.startsWith("~"));
  if (own.length === 0 || file.length === 0) return [...own, ...file, ...excluded];
  const found = find(own, file);
  if (found === "unknown") return found;
  return found.length === 0 ? "none" : [...found, ...excluded];
}

/** A device has several tags. One rule can say that it has one of some, but not one of these and one of those. */
function bothTags(own: readonly string[], file: readonly string[]): ReturnType<Both> {
  if (file.every((tag) => own.includes(tag))) return file;
  return own.every((tag) => file.includes(tag)) ? own : "unknown";
}

/** A device has one name and one address. Whether a name has an address, only AdGuard Home knows. */
function both(own: readonly string[], file: readonly string[]): ReturnType<Both> {
  const found = [...own.filter((one) => isIn(one, file)), ...file.filter((one) => isIn(one, own))];
  const others = file.filter((one) => !isIn(one, own));
  const isUnsure = own
    .filter((one) => !isIn(one, file))
    .some((one) => others.some((other) => isPart(one, other) === undefined));
  return isUnsure ? "unknown" : [...new Map(found.map((one) => [plain(one), one])).values()];
}

function isIn(one: string, others: readonly string[]): boolean {
  return others.some((other) => isPart(one, other) === true);
}

/** Whether every device of one value is one of another; undefined for a name and an address. */
function isPart(one: string, other: string): boolean | undefined {
  const [inner, outer] = [rangeOf(one), rangeOf(other)];
  if (inner !== undefined && outer !== undefined)
    return inner.isV6 === outer.isV6 && inner.bits.startsWith(outer.bits);
  return inner === outer ? plain(one) === plain(other) : undefined;
}

function plain(value: string): string {
  const inner = /^(?<quote>['"])(?<text>.*)\k<quote>$/.exec(value)?.groups?.["text"] ?? value;
  return inner.replaceAll(/\\(?=.)/g, "");
}

interface AddressRange {
  /** The bits that all addresses of the range begin with. */
  readonly bits: string;
  readonly isV6: boolean;
}

/** Undefined for a name. */
function rangeOf(value: string): AddressRange | undefined {
  const [address = "", length] = plain(value).split("/");
  const bits = bitsOf(address);
  if (bits === undefined) return undefined;
  return { bits: bits.slice(0, Number(length ?? bits.length)), isV6: address.includes(":") };
}

/** The address as bits; undefined for other texts. */
function bitsOf(address: string): string | undefined {
  if (isIpv4Text(address))
    return address
      .split(".")
      .map((part) => Number(part).toString(2).padStart(8, "0"))
      .join("");
  if (!isIpv6Text(address) || address.includes(".")) return undefined;
  const [start = "", end] = address
    .split("::")
    .map((half) => half.split(":").filter(Boolean))
    .map((half) =>
      half.map((part) => Number.parseInt(part, 16).toString(2).padStart(16, "0")).join(""),
    );
  return end === undefined ? start : start.padEnd(128 - end.length, "0") + end;
}
