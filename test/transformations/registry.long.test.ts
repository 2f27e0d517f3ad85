import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { parse } from "tldts";
import { corpusEntries, corpusFolder, missingCorpus } from "../support/corpus.ts";
import { DiskProject } from "../support/disk-project.ts";
import { type ListServer, serveLists } from "../support/list-server.ts";
import { isNightly } from "../support/nightly.ts";
import {
  type Reference,
  loadReference,
  missingReference,
  plainLine,
} from "../support/reference-compiler.ts";

/**
 * What the configurations of AdGuard's HostlistsRegistry have in common: the type of their sources, how many there are, what each
 * and the list go through, and exclusions. The files themselves have no licence and are not here; `HOSTLISTS_REGISTRY` names a
 * checkout whose configurations are compared, too. `V` is Validate, `M` RemoveModifiers, `N` RemoveComments, `D` Deduplicate, `C` Compress.
 */
const SHAPES = `
  adblock 1 M,V  D,C
  adblock 1 M,V  N,D,C
  adblock 1 M,V  D,C,N
  adblock 1 M,V  N,D
  adblock 1 M,N,V  D,C
  adblock 1 M,VS  N,D,C
  adblock 1 VI  N,D,C
  adblock 1 V  D,C
  adblock 1 V  N,D,C
  adblock 1 V  N,D
  adblock 1 -  N,D
  adblock 2 M,V  N,D,C  ||api.example.com^ *.ads.example.com ads.example.com
  hosts 1 V  D
  hosts 1 V  D  - localhost.localdomain
  hosts 1 V  N,D
  hosts 1 V  N,D  *.ads.example.com ads.example.com
  hosts 1 V  D,C
  hosts 1 V  N,D,C
`;

const TRANSFORMATIONS: Readonly<Record<string, string>> = {
  M: "RemoveModifiers",
  N: "RemoveComments",
  D: "Deduplicate",
  C: "Compress",
  V: "Validate",
  VI: "ValidateAllowIp",
  VS: "ValidateAllowPublicSuffix",
};

interface RegistryConfig {
  readonly name: string;
  readonly sources: readonly {
    readonly source: string;
    readonly type?: string;
  }[];
}

/** The deviations of `docs/reference/compatibility.md` that may explain a line which only one of the two lists has. */
const DEVIATIONS: Readonly<Record<string, (line: string, differing: Differing) => boolean>> = {
  // A newer list of suffixes has more of them. What they covered stays.
  "O-07": (line, { isOurs, other }) =>
    isOurs
      ? parentsOf(nameOf(line)).some((name) => isSuffix(name) && other.has(`||${name}^`))
      : isSuffix(nameOf(line)),
  // What a kept short name covers goes. A label never begins with a hyphen.
  "O-08": (line, { isOurs, other }) =>
    isOurs
      ? line.includes("_") || isShort(nameOf(line))
      : /\.-/.test(line) ||
        parentsOf(nameOf(line)).some((name) => isShort(name) && other.has(`||${name}^`)),
  "O-34": (line, { other }) => other.has(line.toLowerCase()) || /[A-Z]/.test(line),
  "O-36": (line, { isOurs }) =>
    !isOurs &&
    /^(?:localhost(?:\.localdomain)?|local|broadcasthost|ip6-[a-z]+)$/.test(nameOf(line)),
  "O-39": (line, { isOurs }) => isOurs && /^\|\|[\da-f]*:[\da-f:]+\^$/.test(line),
  "O-38": (line, { isOurs, noted }) =>
    isOurs ? noted.has(nameOf(line)) : parentsOf(nameOf(line)).some((name) => noted.has(name)),
  "O-37": (line, { isOurs, isHosts }) => isOurs && isHosts && line.startsWith("#"),
};

interface Differing {
  readonly isOurs: boolean;
  readonly isHosts: boolean;
  /** The lines of the other list, in lower case. */
  readonly other: ReadonlySet<string>;
  /** Names that a source has with a note behind them. */
  readonly noted: ReadonlySet<string>;
}

/** The rules that another list has, too. A comment may stand above several rules, and goes with each of them. */
function rulesIn(lines: readonly string[], other: ReadonlySet<string>): string {
  return lines.filter((line) => !/^[!#]/.test(line) && other.has(line)).join("\n");
}

/** The rule below a comment, which goes and stays with it; empty if the other list has that rule. */
function ruleBelow(lines: readonly string[], comment: number, other: ReadonlySet<string>): string {
  if (!/^[!#]/.test(lines[comment]!)) return "";
  const rule = lines.slice(comment).find((line) => !/^(?:[!#]|$)/.test(line)) ?? "";
  return other.has(rule) ? "" : rule;
}

function nameOf(line: string): string {
  return line.replace(/^(?:@@)?(?:\|{1,2}|\*\.|\.)?/, "").replace(/[\^$|].*$/, "");
}

function parentsOf(name: string): string[] {
  const labels = name.split(".");
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join("."));
}

function isShort(name: string): boolean {
  return /^[^.]\.[^.]{2}$/.test(name);
}

function isSuffix(name: string): boolean {
  return parse(name).publicSuffix === name;
}

/** How many lines of a real list a source has. */
const LINES = isNightly ? 5000 : 3000;
/** How many real lists each shape is tried with. */
const LISTS = isNightly ? 40 : 4;

class Comparison {
  readonly counts = { run: 0, equal: 0 };
  readonly unexplained: string[] = [];
  readonly byDeviation = new Map<string, number>();
  private readonly project: DiskProject;
  private readonly reference: Reference = loadReference();
  private readonly server: ListServer;
  private readonly folder: string;

  private constructor(project: DiskProject, server: ListServer, folder: string) {
    this.project = project;
    this.server = server;
    this.folder = folder;
  }

  static async start(context: TestContext): Promise<Comparison> {
    const project = new DiskProject(context);
    const folder = join(project.folder, "lists");
    mkdirSync(folder);
    const server = await serveLists([folder]);
    context.after(() => server.close());
    return new Comparison(project, server, folder);
  }

  /** The address of the beginning of a real list. */
  addressOf(file: string): string {
    const copy = join(this.folder, file);
    if (!existsSync(copy)) {
      const folders = (["power", "typical"] as const).map(corpusFolder);
      const real = folders.map((one) => join(one, file)).find(existsSync)!;
      const lines = readFileSync(real, "utf8").split("\n").slice(0, LINES);
      writeFileSync(copy, `${lines.join("\n")}\n`);
    }
    return `${this.server.base}/${encodeURIComponent(file)}`;
  }

  async compare(config: RegistryConfig): Promise<void> {
    const theirs = (await this.reference(config)).map(plainLine).join("\n").split("\n");
    this.project.write("c.json", JSON.stringify(config));
    const words = ["-c", "c.json", "-o", "list.txt", "--no-cache", "--no-record"];
    const { exit, stderr } = await this.project.run("--compat", "-q", ...words);
    assert.equal(exit, 0, stderr);
    const ours = this.project.text("list.txt").split("\n").map(plainLine);
    this.counts.run++;
    if (ours.join("\n") === theirs.join("\n")) this.counts.equal++;
    else this.explain(config, ours, theirs);
  }

  private explain(
    config: RegistryConfig,
    ours: readonly string[],
    theirs: readonly string[],
  ): void {
    const isHosts = config.sources.every(({ type }) => type === "hosts");
    const noted = new Set(config.sources.flatMap(({ source }) => this.notedIn(source)));
    const has = new Set(theirs);
    const have = new Set(ours);
    const found = new Set<string>();
    const lower = {
      ours: new Set(ours.map((one) => one.toLowerCase())),
      theirs: new Set(theirs.map((one) => one.toLowerCase())),
    };
    const codeOf = (line: string, isOurs: boolean): string | undefined => {
      const differing = { isOurs, isHosts, noted, other: isOurs ? lower.theirs : lower.ours };
      return Object.keys(DEVIATIONS).find((one) => DEVIATIONS[one]!(line, differing));
    };
    for (const [lines, other, isOurs] of [
      [ours, has, true],
      [theirs, have, false],
    ] as const)
      for (const [index, line] of lines.entries()) {
        if (other.has(line)) continue;
        const code = codeOf(line, isOurs) ?? codeOf(ruleBelow(lines, index, other), isOurs);
        if (code !== undefined) found.add(code);
        else this.unexplained.push(`${isOurs ? "+" : "-"} ${line} in ${shapeOf(config)}`);
      }
    if (rulesIn(ours, has) !== rulesIn(theirs, have))
      this.unexplained.push(`the order in ${shapeOf(config)}`);
    for (const code of found) this.byDeviation.set(code, (this.byDeviation.get(code) ?? 0) + 1);
  }

  private notedIn(address: string): string[] {
    const file = decodeURIComponent(address.slice(this.server.base.length + 1));
    const text = readFileSync(join(this.folder, file), "utf8");
    return [...text.matchAll(/^([^\s#]+)[ \t]+#/gm)].map(([, name]) => name!.toLowerCase());
  }

  report(context: TestContext, read: number): void {
    const { run, equal } = this.counts;
    const listed = [...this.byDeviation].map(([code, count]) => `${code} ${count}`).toSorted();
    context.diagnostic(
      `${read} configurations read, ${run} run, ${equal} equal byte for byte, ${run - equal} different by listed deviations (${listed.join(", ")}); ${this.unexplained.length} lines are not explained`,
    );
    assert.deepEqual(this.unexplained, []);
  }
}

const skip = missingReference === false ? missingCorpus : missingReference;

test(
  "configurations of the shapes of HostlistsRegistry compile to the reference's bytes",
  { skip, timeout: 1_800_000 },
  async (context) => {
    const comparison = await Comparison.start(context);
    const shapes = SHAPES.trim().split("\n");
    const lists = corpusEntries().filter(({ lines }) => lines > 100);
    const step = Math.floor(lists.length / LISTS);
    for (const [index, shape] of shapes.entries())
      for (let at = 0; at < LISTS; at++) {
        const files = [0, 1].map(
          (more) => lists[(at * step + index + more * 7) % lists.length]!.file,
        );
        await comparison.compare(
          configOf(
            shape,
            files.map((file) => comparison.addressOf(file)),
          ),
        );
      }
    comparison.report(context, shapes.length);
    assert.equal(comparison.counts.run, shapes.length * LISTS);
  },
);

function named(letters: string): string[] {
  return letters.split(",").map((one) => TRANSFORMATIONS[one]!);
}

test("every deviation that may explain a difference is listed", () => {
  const file = join(import.meta.dirname, "../conformance/deviations.json");
  const listed = JSON.parse(readFileSync(file, "utf8")) as object;
  for (const code of Object.keys(DEVIATIONS)) assert.ok(code in listed, code);
});

/** `type count source-transformations list-transformations [exclusions | - exclusions of the source]` */
function configOf(shape: string, addresses: readonly string[]): RegistryConfig {
  const [type, count, own, all, ...exclusions] = shape.trim().split(/\s+/);
  const isOfSource = exclusions[0] === "-";
  return {
    name: "Registry: a list",
    description: "What a list of the registry says about itself",
    homepage: "https://example.org/",
    sources: addresses.slice(0, Number(count)).map((source, index) => ({
      name: `Source ${index}`,
      source,
      type: type!,
      ...(own !== "-" && { transformations: named(own!) }),
      ...(isOfSource && { exclusions: exclusions.slice(1) }),
    })),
    transformations: named(all!),
    ...(exclusions.length > 0 && !isOfSource && { exclusions }),
  } as RegistryConfig;
}

function shapeOf({ sources, ...config }: RegistryConfig): string {
  return JSON.stringify({ ...config, description: undefined, homepage: undefined, sources });
}

const registry = process.env["HOSTLISTS_REGISTRY"];

test(
  "every configuration of HostlistsRegistry compiles to the reference's bytes",
  { skip: skip || (registry === undefined && "HOSTLISTS_REGISTRY is not set"), timeout: 1_800_000 },
  async (context) => {
    const comparison = await Comparison.start(context);
    const files = readdirSync(registry!, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith("configuration.json"),
    );
    let spare = 0;
    const all = corpusEntries();
    const others = all.filter(({ lines }) => lines > 100);
    for (const file of files.toSorted()) {
      const config = JSON.parse(readFileSync(join(registry!, file), "utf8")) as RegistryConfig;
      const sources = config.sources.map((one) => {
        const known = all.find(({ address }) => address === repositoryPath(one.source));
        const alike = others.filter(
          ({ syntax }) => (syntax === "hosts") === (one.type === "hosts"),
        );
        const list = known ?? alike[(spare++ * 7) % alike.length]!;
        return { ...one, source: comparison.addressOf(list.file) };
      });
      await comparison.compare({ ...config, sources });
    }
    comparison.report(context, files.length);
    assert.ok(files.length > 0);
  },
);

/** `owner/name/path` of a file on GitHub or in its mirror; otherwise the address itself. */
function repositoryPath(address: string): string {
  return decodeURIComponent(address)
    .replace(
      /^https:\/\/raw\.githubusercontent\.com\/([^/]+\/[^/]+)\/(?:refs\/heads\/)?[^/]+\//,
      "$1/",
    )
    .replace(/^https:\/\/cdn\.jsdelivr\.net\/gh\/([^@/]+\/[^@/]+)@[^/]+\//, "$1/");
}
