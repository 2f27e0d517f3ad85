import { Buffer } from "node:buffer";
import { readSecretKey, signatureFile } from "../../../src/sources/held-text.ts";
import { hostileLine } from "../attack/hostile-lines.ts";
import { minisignKeys } from "../minisign-keys.ts";
import { isNightly } from "../nightly.ts";
import type { Random } from "../random.ts";

export type Form = "domains" | "hosts" | "adblock";

/** What happens to a source in the month. */
export type Plot =
  | "calm"
  | "feed"
  | "dies"
  | "outage"
  | "garbage"
  | "flood"
  | "wipe"
  | "rewrite"
  | "drips away"
  | "drips in"
  | "hostile"
  | "forged"
  | "mirrored";

const PLOTS: readonly Plot[] = [
  "dies",
  "outage",
  "garbage",
  "flood",
  "wipe",
  "rewrite",
  "drips away",
  "drips in",
  "hostile",
  "feed",
  ...(isNightly ? (["forged", "mirrored"] as const) : []),
];

const GARBAGE: readonly string[] = [
  "<!doctype html>\n<html><head><title>Sign in</title></head><body>sign in</body></html>\n",
  '{"message": "API rate limit exceeded"}\n',
  "404: Not Found",
  "",
  "# nothing today\n",
  "! Title: Gone\n! This list has moved\n",
];

/** Names of the strict kinds, and lines for them. */
export const NEEDED: readonly string[] = [
  "google.com",
  "www.google.com",
  "accounts.google.com",
  "paypal.com",
  "sparkasse.de",
  "microsoft.com",
  "login.microsoftonline.com",
  "wikipedia.org",
  "gmail.com",
  "chase.com",
  "gov.uk",
  "nhs.uk",
  "cloudflare.com",
  "fonts.googleapis.com",
  "github.com",
];

/** Sites that nobody lists. */
export const ORDINARY: readonly string[] = Array.from({ length: 300 }, (_, index) => {
  const words = [
    "garden",
    "music",
    "school",
    "city",
    "shop",
    "travel",
    "wood",
    "house",
    "sun",
    "mill",
  ];
  const endings = ["com", "net", "org", "de", "fr", "co.uk", "io", "nl", "it", "eu"];
  const name = `${words[index % 10]}-${words[Math.floor(index / 10) % 10]}`;
  return `${name}${index % 7 === 0 ? index : ""}.${endings[Math.floor(index / 30) % 10]}`;
});

const WIDE: readonly string[] = [
  "||*s*.com^",
  "||*a*.net^",
  "||com^",
  "||*.de^",
  "/^[a-m]/",
  "*e*",
  "||ga*",
  "||co.uk^",
  "*",
];

/** A list on the web, day by day. */
export class Upstream {
  readonly name: string;
  readonly url: string;
  readonly plot: Plot;
  readonly trust: "block-only" | undefined;
  /** A signed list has a key, and a list of which somebody else has a copy has a mirror. */
  readonly keys: ReturnType<typeof minisignKeys> | undefined;
  readonly mirror: string | undefined;
  /** The day on which the user adds it. */
  readonly added: number;
  /** The days of its plot: from the first, before the last. */
  readonly from: number;
  readonly to: number;
  /** Present names, and those that it removed for good reasons. */
  readonly names: Set<string> = new Set();
  readonly removed: Set<string> = new Set();
  /** Names that it had when its plot began, and what the plot added. */
  before: readonly string[] = [];
  extra: readonly string[] = [];
  private readonly random: Random;
  private readonly index: number;
  private readonly form: Form;
  private serial = 0;
  private day = 0;
  private readonly garbage: string;
  /** Its plot does not happen. */
  isMuted = false;

  constructor(index: number, plot: Plot, random: Random, nights?: number) {
    this.index = index;
    this.plot = plot;
    this.random = random;
    this.name = `List ${index}`;
    this.url = `https://l${index}.example.org/list.txt`;
    this.keys = plot === "forged" ? minisignKeys() : undefined;
    this.mirror = plot === "mirrored" ? `https://m${index}.example.org/list.txt` : undefined;
    this.trust = plot === "hostile" && random.chance(0.5) ? "block-only" : undefined;
    this.added = plot === "calm" && random.chance(0.15) ? 2 + random.below(20) : 0;
    this.from = 4 + random.below(12);
    this.to = random.chance(0.4) ? this.from + 1 + random.below(2) : 99;
    if (nights !== undefined) this.to = this.from + nights;
    this.form = plot === "rewrite" ? "domains" : random.pick(["domains", "hosts", "adblock"]);
    this.garbage = random.pick(GARBAGE);
    for (let count = 30 + random.below(120); count > 0; count--) this.grow();
  }

  get isInPlot(): boolean {
    return this.day >= this.from && this.day < this.to;
  }

  /** Days since its plot began; undefined if it has not begun or is over. */
  get plotDay(): number | undefined {
    return this.isInPlot ? this.day - this.from : undefined;
  }

  /** Five names of a site that nobody else has. */
  private grow(): void {
    const site = `s${this.index}x${this.serial++}.${["com", "net", "org"][this.serial % 3]}`;
    for (const host of ["", "a.", "b.", "c.", "d."]) this.names.add(`${host}${site}`);
  }

  private shrink(count: number): void {
    for (const name of [...this.names].slice(0, count)) {
      this.names.delete(name);
      this.removed.add(name);
    }
  }

  /** What its maintainers do before a run. */
  next(day: number, isFirst: boolean): void {
    this.day = day;
    if (isFirst && day === this.from) this.before = [...this.names];
    if (this.plot === "feed" && isFirst) this.turnOver();
    else if (isFirst && !this.isInPlot && this.random.chance(0.5)) {
      if (this.names.size > 100) this.shrink(this.random.below(4));
      this.grow();
    }
    if (this.plotDay === undefined) return;
    if (this.plot === "drips away" && isFirst) this.shrink(Math.ceil(this.before.length * 0.06));
    if (this.plot === "drips in")
      for (let count = Math.ceil(this.names.size * 0.06); count > 0; count--) this.grow();
  }

  /** Most of its names are others each day. */
  private turnOver(): void {
    const gone = Math.floor(this.names.size * 0.6);
    this.shrink(gone);
    for (let count = gone / 5; count > 0; count--) this.grow();
  }

  /** What one of its addresses answers; undefined for other addresses. */
  answerTo(url: string): { readonly status: number; readonly body: string } | undefined {
    if (url === this.mirror) return { status: 200, body: this.mirrorText() };
    if (url === this.url) return this.answer();
    if (this.keys === undefined || url !== `${this.url}.minisig`) return undefined;
    const key = readSecretKey(this.keys.secret);
    if (typeof key !== "object") throw new Error("no key");
    // Somebody who can change the file cannot sign it.
    const text = Buffer.from(this.text([...this.names]));
    return { status: 200, body: signatureFile(text, key, "timestamp:1") };
  }

  /** A copy, until its maintainers are gone. */
  private mirrorText(): string {
    return this.text(this.plotDay === undefined ? [...this.names] : this.flood());
  }

  private flood(): string[] {
    this.extra = Array.from({ length: 3000 }, (_, at) => `f${at}.flood${this.index}.com`);
    return [...this.names, ...this.extra];
  }

  private answer(): { readonly status: number; readonly body: string } {
    const names = [...this.names];
    if (this.plotDay === undefined || this.isMuted) return { status: 200, body: this.text(names) };
    switch (this.plot) {
      case "dies":
      case "mirrored":
      case "outage":
        return { status: this.plot === "dies" ? 404 : 503, body: "" };
      case "garbage":
        return { status: 200, body: this.garbage };
      case "flood":
      case "forged":
        return { status: 200, body: this.text(this.flood()) };
      case "wipe":
        return { status: 200, body: this.text(names.slice(-Math.ceil(names.length / 30))) };
      case "rewrite": {
        const sites = new Set(names.map((name) => name.split(".").slice(-2).join(".")));
        return { status: 200, body: [...sites].map((site) => `||${site}^\n`).join("") };
      }
      case "hostile":
        return { status: 200, body: this.text(names) + this.hostileText() };
      case "calm":
      case "feed":
      case "drips away":
      case "drips in":
        return { status: 200, body: this.text(names) };
    }
  }

  private text(names: readonly string[]): string {
    return names.map((name) => `${lineOf(name, this.form)}\n`).join("");
  }

  private hostileText(): string {
    const { random } = this;
    const lines = [
      ...random.times(3, () =>
        lineOf(random.pick(NEEDED), random.pick(["domains", "hosts", "adblock"])),
      ),
      random.pick(WIDE),
      ...random.times(3, () =>
        hostileLine(`a.s${random.below(8)}x${random.below(30)}.com`, random),
      ),
      ...random.times(2, () =>
        hostileLine(random.pick(["mesu.apple.com", "own-a.example.com"]), random),
      ),
    ];
    return lines.map((line) => `${line.replaceAll(/[\r\n]/g, " ")}\n`).join("");
  }
}

export function lineOf(name: string, form: Form): string {
  if (form === "domains") return name;
  return form === "hosts" ? `0.0.0.0 ${name}` : `||${name}^`;
}

/** Three honest lists at least, and others with a plot. */
export function upstreamsOf(random: Random, plots?: readonly Plot[], nights?: number): Upstream[] {
  const honest = random.times<Plot>(3 + random.below(3), () => "calm");
  const others = plots ?? random.times(1 + random.below(3), () => random.pick(PLOTS));
  return [...honest, ...others].map((plot, index) => new Upstream(index, plot, random, nights));
}
