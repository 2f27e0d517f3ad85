import { parse } from "tldts";
import type { Config, SourceConfig } from "../internals.ts";
import type { Random } from "../random.ts";
import { PLAIN_NAMES, VALIDATOR_NAMES } from "../transformation-names.ts";

/** A configuration and its files, free of the shapes in which we deviate from the reference on purpose. */
export interface Case {
  readonly config: Config;
  readonly files: Readonly<Record<string, string>>;
}

const PLAIN: readonly string[] = PLAIN_NAMES;
const VALIDATORS: readonly string[] = VALIDATOR_NAMES;

export function randomCase(random: Random): Case {
  const isTopValidated = random.chance(0.5);
  const top = transformations(random, isTopValidated);
  const files: Record<string, string> = {};
  const sources: SourceConfig[] = [];
  const levels: string[][] = [top];
  for (let index = 0; index < 1 + random.below(3); index++) {
    const own = transformations(random, !isTopValidated);
    levels.push(own);
    sources.push({
      source: `f${index}`,
      transformations: own,
      ...(random.chance(0.2) ? { name: `S${index}` } : {}),
      ...(random.chance(0.15) ? { exclusions: entries(random) } : {}),
      ...(random.chance(0.08) ? { inclusions: entries(random) } : {}),
    });
  }
  const used = new Set(levels.flat());
  const lines = new LineMaker(random, used);
  for (const { source } of sources) files[source] = lines.file();
  const config = {
    name: "N",
    sources,
    ...(random.chance(0.15) ? { exclusions: entries(random) } : {}),
    ...(random.chance(0.05) ? { inclusions: entries(random) } : {}),
    ...(random.chance(0.1) ? { exclusions_sources: ["e"] } : {}),
  };
  if (config.exclusions_sources !== undefined)
    files["e"] = ["zzz", ...entries(random).filter((entry) => entry.trim() !== ""), "! c", ""].join(
      "\n",
    );
  // Banners are filtered and dropped as comments by the reference (O-10, O-12); without comments there are none.
  const touchesBanners =
    ["exclusions", "inclusions", "exclusions_sources"].some((key) => key in config) ||
    top.some((name) => name === "Deduplicate" || VALIDATORS.includes(name));
  const withComments =
    touchesBanners && !top.includes("RemoveComments") ? [...top, "RemoveComments"] : top;
  // A parent that the list's own filters take covers nothing in a source (O-14).
  const hasFilters = ["exclusions", "inclusions", "exclusions_sources"].some(
    (key) => key in config,
  );
  const calm = sources.map((source) => ({
    ...source,
    transformations: source.transformations!.filter((name) => name !== "Compress"),
  }));
  return {
    config: {
      ...config,
      ...(hasFilters ? { sources: calm } : {}),
      transformations: shuffled(random, withComments),
    },
    files,
  };
}

function transformations(random: Random, mayValidate: boolean): string[] {
  const names = random.chance(0.4) ? [random.pick(PLAIN)] : PLAIN.filter(() => random.chance(0.35));
  if (mayValidate && random.chance(0.6)) names.push(random.pick(VALIDATORS));
  // Together they deviate (O-48).
  return names.includes("Compress") ? names.filter((name) => name !== "RemoveModifiers") : names;
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => [random.next(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item);
}

/** Entries that are no rules (O-14). */
function entries(random: Random): string[] {
  return random.times(1 + random.below(3), () =>
    random.pick([
      "example.com",
      "a.",
      "*ads*",
      "*.com",
      "/^a/",
      "/^\\|\\|/",
      "/[0-9]/",
      "/^0/",
      "*example*",
      "x-y",
      "a*b",
      "#",
      "",
      "! c",
      "/x",
      "*.com^",
    ]),
  );
}

const LABELS = [
  "a",
  "ads",
  "www",
  "example",
  "x-y",
  "abc",
  "cafe",
  "xn--p1ai",
  "1",
  "10",
  "пример",
  "a".repeat(63),
  "github",
  "s3",
];
const ODD_LABELS = ["b-", "EXAMPLE", "", "a".repeat(64)];
const ENDS = ["com", "org", "net", "co.uk", "github.io", "example", "notatld", "kobe.jp", "info"];

class LineMaker {
  private readonly random: Random;
  private readonly used: ReadonlySet<string>;
  private readonly validates: boolean;

  constructor(random: Random, used: ReadonlySet<string>) {
    this.random = random;
    this.used = used;
    this.validates = VALIDATORS.some((name) => used.has(name));
  }

  file(): string {
    const { random } = this;
    const pool = random.times(3 + random.below(40), () => this.line());
    const lines = random.times(5 + random.below(120), () =>
      random.chance(0.7) ? random.pick(pool) : this.line(),
    );
    return lines.join(random.pick(["\n", "\n", "\r\n", "\n\n"]));
  }

  private line(): string {
    for (;;) {
      const line = this.anyLine();
      if (!this.deviates(line)) return line;
    }
  }

  private anyLine(): string {
    const { random } = this;
    const kind = random.next();
    let line: string;
    if (kind < 0.4) line = this.adblock();
    else if (kind < 0.55) line = this.hosts();
    else if (kind < 0.7) line = this.host();
    else if (kind < 0.82)
      line = random.pick([
        "! c",
        "!c",
        "# c",
        "#",
        "##",
        "###",
        "####x",
        "#c",
        "#\tc",
        "! a.com",
        "!#x",
        "[Adblock]",
      ]);
    else if (kind < 0.86) line = random.pick(["", " ", "\t", "\u00a0", "  "]);
    else if (kind < 0.9)
      line = random.pick([
        "/regex/",
        "/a$b/",
        "/regex/$3p",
        "@@/xyz/",
        "/replace=/",
        "a.com##.ad",
        "##.x",
        "a.com#@#.y",
      ]);
    else line = this.junk();
    if (random.chance(0.08)) line = this.blank() + line;
    if (random.chance(0.08)) line += this.blank();
    return line;
  }

  private label(): string {
    const isOdd = !(this.used.has("Compress") && this.validates) && this.random.chance(0.15);
    return this.random.pick(isOdd ? ODD_LABELS : LABELS);
  }

  private host(): string {
    const { random } = this;
    const labels = random.times(1 + random.below(3), () => this.label());
    return [...labels, random.pick(ENDS)].join(".");
  }

  private adblock(): string {
    const { random } = this;
    const start =
      random.pick(["", "", "@@"]) +
      random.pick([
        "||",
        "||",
        "||",
        "|",
        "",
        "*.",
        ".",
        "||*.",
        "://",
        "|||",
        "*",
        "/",
        "http://",
      ]);
    const end = random.pick(["^", "^", "^", "^|", "", "|", "^x", "^^", "/p", ":80", ".^", "^|x"]);
    return start + this.host() + end + this.modifiers();
  }

  private modifiers(): string {
    const { random } = this;
    if (random.chance(0.5)) return "";
    const names = [
      "important",
      "~important",
      "3p",
      "third-party",
      "document",
      "doc",
      "all",
      "popup",
      "network",
      "denyallow=a.com|b.com",
      "client=x",
      "dnstype=A",
      "dnsrewrite=1.2.3.4",
      "ctag=x",
      "domain=x.com",
      "",
      " important",
      "all=1",
    ];
    return `$${random.times(1 + random.below(3), () => random.pick(names)).join(",")}`;
  }

  private hosts(): string {
    const { random } = this;
    const address = random.pick([
      "0.0.0.0",
      "0.0.0.0",
      "127.0.0.1",
      "::1",
      "fe80::1%lo0",
      "1.2.3.4",
      "[::]",
    ]);
    const names = random.times(1 + random.below(3), () => this.host());
    return (
      address +
      (this.blank() || " ") +
      names.join(this.blank() || " ") +
      random.pick(["", "", " # c", "#c", "  ", " #"])
    );
  }

  private junk(): string {
    const pieces = [..."ab1.*^|$@#/\\ ,=:-!", "я", "||", "@@", "://", "\u00a0", "org"];
    return this.random.times(1 + this.random.below(8), () => this.random.pick(pieces)).join("");
  }

  private blank(): string {
    return this.random.pick([" ", "  ", "\t", " \t ", "\u00a0", ""]);
  }

  /** Shapes that a named deviation claims; `docs/reference/compatibility.md` has an example of each. */
  private deviates(line: string): boolean {
    const trimmed = line.trim();
    const rule = trimmed.replace(/^@@/, "");
    const isHosts = /^(?:[0-9.]+|[0-9a-f:[\]]+(?:%[a-z0-9]+)?)\s/.test(trimmed);
    if (/^!#(?:if|else|endif|include)/.test(trimmed)) return true;
    if (trimmed === "@@") return true; // O-04
    if (
      /^[a-f0-9.:[\]]+(?:%[a-z0-9]+)?\s+[^\s#]/.test(trimmed) &&
      !/^(?:0\.0\.0\.0|127\.0\.0\.1|::1|fe80::1%lo0|1\.2\.3\.4|\[::\])\s/.test(trimmed)
    )
      return true; // O-02
    if (/^[a-f0-9.:[\]]+(?:%[a-z0-9]+)?\s\s+(?:#.*)?$/.test(line)) return true; // O-03
    if (/=[^,]*(?:\\,|=)/.test(rule.slice(rule.lastIndexOf("$") + 1))) return true; // O-05
    if (
      /[^\u0000-\u007f]/.test(trimmed) &&
      this.used.has("ConvertToAscii") &&
      !/^(?:@@)?\|\|(?:[\p{L}\d-]+\.)+[\p{L}\d-]+\^?$/u.test(trimmed)
    )
      return true; // O-06, O-50
    if (rule.startsWith("$") && this.used.has("RemoveModifiers")) return true; // O-49
    if (trimmed === "" && line !== "" && this.used.has("InvertAllow")) return true; // O-44
    if (this.used.has("Compress")) {
      if (/[A-Z]/.test(trimmed)) return true; // O-34
      if (/^(?:\|\|)?[\d.]+\^?$/.test(trimmed)) return true; // O-35
    }
    if (!this.validates) return false;
    return isHosts ? this.deviatesAsHosts(trimmed) : this.deviatesAsRule(rule);
  }

  /** O-09: a bad name among good ones. O-01: a bad parent. */
  private deviatesAsHosts(line: string): boolean {
    const names = line.replace(/#.*$/, "").trim().split(/\s+/).slice(1);
    return names.some(
      (name) =>
        !/^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)+$/.test(name) || isSuffix(name),
    );
  }

  private deviatesAsRule(rule: string): boolean {
    if (/^\S+\s+#/.test(rule)) return true; // O-38
    if (/^\/.*\/$/.test(rule)) return !/^\/(?:regex|xyz|a\$b)\/$/.test(rule); // O-53
    const dollar = rule.lastIndexOf("$");
    const pattern = dollar === -1 ? rule : rule.slice(0, dollar);
    if (/^[|:/*.]*\d[\d.]*[.*^|]*$/.test(pattern)) return true; // O-39
    if (/^[|]*[0-9a-f:]+[|^]*$/i.test(pattern) && pattern.includes("::")) return true; // O-39
    if (pattern.includes("*..")) return true; // O-07
    if (pattern.length < 5 && pattern.includes(".")) return true; // O-08
    const caret = pattern.indexOf("^");
    if (pattern.includes("*") && caret !== -1 && caret < pattern.length - 1) return true; // O-07
    const body = pattern.replace(/^[|:/]+/, "").replace(/[|^].*$/s, "");
    const literal = body
      .replaceAll("*", "")
      .replace(/\.{2,}/g, ".")
      .replace(/^\.+|\.+$/g, "");
    if (this.used.has("Compress") && /^\|\|[a-z0-9.-]+\^/.test(pattern)) {
      const name = body.replace(/\.$/, "");
      if (isSuffix(name) || parse(name).hostname === null) return true; // O-01
    }
    const isExact =
      /^(?:\|\|)?(?:\*\.|\.)?[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*\.?\^\|?$/i.test(
        pattern,
      );
    return !isExact && (isSuffix(literal) || literal.replace(/[^a-z0-9]/gi, "").length < 2); // O-07
  }
}

function isSuffix(name: string): boolean {
  const { hostname, publicSuffix } = parse(name);
  return hostname === null || hostname === publicSuffix;
}
