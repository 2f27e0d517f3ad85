import { type Config, compile, memoryHost } from "./internals.ts";
import { MemoryProject } from "./memory-project.ts";

/** Input that grows in one way: its size in the short and the full form, and what is done with it. */
export interface CostShape {
  readonly size: number;
  readonly isShort?: true;
  /** Makes the input of a size; what it returns is measured. */
  readonly prepare: (size: number) => () => Promise<unknown>;
}

const STEPS = ["RemoveComments", "Compress", "Validate", "Deduplicate", "InsertFinalNewLine"];
const URL = "https://lists.example/l.txt";

export function lines(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => `${line(index)}\n`).join("");
}

function some<T>(count: number, one: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => one(index));
}

/** A list of one source; with `trust`, from an address. */
function compiled(
  text: (size: number) => string,
  config: (size: number) => Partial<Config> = () => ({}),
  files: (size: number) => Record<string, string> = () => ({}),
): CostShape["prepare"] {
  return (size) => {
    const content = text(size);
    const more = files(size);
    const whole: Config = {
      name: "n",
      sources: [{ source: "l.txt" }],
      transformations: STEPS,
      ...config(size),
    };
    return async () => {
      const host = memoryHost({ files: { "l.txt": content, ...more }, web: { [URL]: content } });
      const result = await compile(whole, { host });
      result.close();
      return result;
    };
  };
}

function remote(text: (size: number) => string): CostShape["prepare"] {
  return compiled(text, () => ({ sources: [{ source: URL }] }));
}

/** A command in a project that was compiled before. */
function commanded(
  text: (size: number) => string,
  words: readonly string[],
  next: (size: number) => string = text,
  settings: object = {},
): CostShape["prepare"] {
  return (size) => {
    const before = text(size);
    const after = next(size);
    return async () => {
      const config = { name: "n", sources: [{ source: "l.txt" }], transformations: STEPS };
      const project = new MemoryProject({
        "c.json": JSON.stringify({ ...config, ...settings }),
        "l.txt": before,
        "old.txt": before,
        "new.txt": after,
      });
      await project.run(
        "compile",
        "-q",
        "-c",
        "c.json",
        "-o",
        "o.txt",
        "-r",
        "--accept",
        "blocks-suffix",
      );
      project.write("l.txt", after);
      return project.run(...words);
    };
  };
}

const ODD = [..."ab.*|^-_$@/!#~,= é"];
const NAMES = (size: number): string => lines(size, (index) => `||ads${index}.example.com^`);
const PLACE = ["-c", "c.json", "-o", "o.txt", "-r"];
const BRANCHES = (size: number): string =>
  lines(size, (index) =>
    index % 2 === 0 ? `||p${index >> 1}.example^` : `@@||a.p${index >> 1}.example^`,
  );
const WILD = (size: number): string =>
  lines(size, (index) => `||w${index}*.example${index % 9}.com^`) + NAMES(size);

export const SHAPES: Readonly<Record<string, CostShape>> = {
  "exclusions, plain": {
    size: 40_000,
    prepare: compiled(NAMES, (size) => ({ exclusions: some(size, (index) => `x${index}y`) })),
  },
  "exclusions, wildcards": {
    size: 20_000,
    prepare: compiled(NAMES, (size) => ({ exclusions: some(size, (index) => `*x${index}y*z`) })),
  },
  "exclusions, expressions": {
    size: 500,
    isShort: true,
    prepare: compiled(
      () => NAMES(20_000),
      (size) => ({ exclusions: some(size, (index) => `/^x${index}[0-9]+\\./`) }),
    ),
  },
  "exclusions, expressions without a text": {
    size: 1000,
    prepare: compiled(
      () => NAMES(5000),
      (size) => ({
        exclusions: some(
          size,
          (index) => `/^.${[...index.toString(36)].map((one) => `[${one}q]`).join("")}\\d$/`,
        ),
      }),
    ),
  },
  "exclusions, names in a file": {
    size: 40_000,
    prepare: compiled(
      NAMES,
      () => ({ exclusions_sources: ["x.txt"] }),
      (size) => ({ "x.txt": lines(size, (index) => `||x${index}.example.com^`) }),
    ),
  },
  inclusions: {
    size: 40_000,
    prepare: compiled(NAMES, (size) => ({ inclusions: some(size, (index) => `ads${index}.`) })),
  },
  "allow, names": {
    size: 20_000,
    prepare: compiled(NAMES, (size) => ({
      allow: some(size, (index) => `ads${index}.example.com`),
    })),
  },
  "allow, everything below names": {
    size: 20_000,
    prepare: compiled(NAMES, (size) => ({
      allow: some(size, (index) => `||x${index}.example.com^`),
    })),
  },
  "allow, names below a pattern": {
    size: 8000,
    isShort: true,
    prepare: compiled(
      () => "||ad*^\n",
      (size) => ({ allow: some(size, (index) => `ads${index}.example.com`) }),
    ),
  },
  "allow, names and wildcards": {
    size: 4000,
    isShort: true,
    prepare: compiled(
      (size) => lines(size, (index) => `||ads${index}*.example.com^`),
      (size) => ({ allow: some(size, (index) => `ads${index}x.example.com`) }),
    ),
  },
  "allow, names and other wildcards": {
    size: 4000,
    prepare: compiled(
      (size) => lines(size, (index) => `||w${index}*.example.com^`),
      (size) => ({ allow: some(size, (index) => `||ads${index}.example.com^`) }),
    ),
  },
  "allow, names and expressions": {
    size: 1000,
    prepare: compiled(
      (size) => lines(size, (index) => `/^ads${index}[a-z]+\\.example/`),
      (size) => ({ allow: some(size, (index) => `ads${index}x.example.com`) }),
    ),
  },
  wildcards: { size: 20_000, prepare: compiled(WILD) },
  "wildcards of a stranger": { size: 10_000, isShort: true, prepare: remote(WILD) },
  "wildcards of a stranger, letters": {
    size: 2000,
    prepare: remote((size) =>
      lines(size, (index) => `||*${[...index.toString(36)].join("*")}*o*m*^`),
    ),
  },
  "wildcards of a stranger, suffixes": {
    size: 4000,
    isShort: true,
    prepare: remote((size) => lines(size, (index) => `||*.com*${index}*2*^`)),
  },
  "wildcards of a stranger, twenty stars": {
    size: 4000,
    prepare: remote((size) => lines(size, (index) => `||*${"com*".repeat(20)}${index}*^`)),
  },
  "wildcards in hosts lines of a stranger": {
    size: 500,
    prepare: remote((size) =>
      lines(size, (index) => `0.0.0.0 ${some(20, (at) => `m*o*${index}*${at}`).join(" ")}`),
    ),
  },
  "exceptions of a stranger": {
    size: 20_000,
    isShort: true,
    prepare: remote((size) => lines(size, (index) => `@@||x${index}.example.com^`)),
  },
  "exceptions of a stranger, wildcards": {
    size: 8000,
    prepare: remote((size) => lines(size, (index) => `@@||*x${index}*.example.com^`)),
  },
  "important rules of a stranger": {
    size: 40_000,
    prepare: remote((size) => lines(size, (index) => `||x${index}.example.com^$important`)),
  },
  expressions: {
    size: 4000,
    prepare: compiled((size) => lines(size, (index) => `/^ads${index}[0-9]+\\.example/`)),
  },
  badfilter: {
    size: 10_000,
    prepare: compiled(
      (size) =>
        lines(size, (index) => `||b${index}.example^$important`) +
        lines(size, (index) => `||b${index}.example^$important,badfilter`),
    ),
  },
  "badfilter of a stranger": {
    size: 10_000,
    prepare: remote(
      (size) =>
        lines(size, (index) => `||b${index}.example^`) +
        lines(size, (index) => `||b${index}.example^$badfilter`),
    ),
  },
  "denyallow, many names": {
    size: 80_000,
    prepare: compiled(
      (size) =>
        `||example.com^$denyallow=${some(size, (index) => `d${index}.example.com`).join("|")}\n`,
    ),
  },
  "denyallow, many rules": {
    size: 20_000,
    prepare: compiled((size) =>
      lines(size, (index) => `||d${index}.example^$denyallow=a.d${index}.example`),
    ),
  },
  "hosts lines of many names": {
    size: 2000,
    prepare: compiled((size) =>
      lines(size, (index) => `0.0.0.0 ${some(40, (at) => `h${at}.x${index}.example`).join(" ")}`),
    ),
  },
  "names of one label": {
    size: 40_000,
    prepare: compiled((size) => lines(size, (index) => `||n${index}^`)),
  },
  "one hosts line": {
    size: 80_000,
    prepare: compiled((size) => `0.0.0.0 ${some(size, (at) => `h${at}.example`).join(" ")}\n`),
  },
  "deep names": {
    size: 8000,
    prepare: compiled((size) => lines(size, (index) => `||${"a.".repeat(100)}x${index}.example^`)),
  },
  "one domain": { size: 200_000, prepare: compiled(NAMES) },
  "long lines of a stranger, each character": {
    size: 400,
    prepare: remote((size) =>
      lines(size, (index) => `||a${ODD[index % ODD.length]!.repeat(3000)}b${index}`),
    ),
  },
  "long lines of a file, each character": {
    size: 40_000,
    isShort: true,
    prepare: compiled((size) => ODD.map((one) => `||a${one.repeat(size)}b${one}c\n`).join("")),
  },
  conditions: {
    size: 40_000,
    prepare: compiled((size) =>
      lines(size, (index) => `!#if (adguard)\n||c${index}.example^\n!#endif`),
    ),
  },
  includes: {
    size: 200,
    prepare: compiled(
      (size) => lines(size, (index) => `!#include i${index}.txt`),
      undefined,
      (size) => Object.fromEntries(some(size, (index) => [`i${index}.txt`, NAMES(50)])),
    ),
  },
  comments: { size: 80_000, prepare: remote((size) => lines(size, (index) => `! note ${index}`)) },
  duplicates: {
    size: 80_000,
    prepare: compiled((size) => lines(size, () => "||a.example^$ctag=x")),
  },
  "exceptions within blocks": { size: 40_000, prepare: compiled(BRANCHES) },
  "names in other scripts": {
    size: 10_000,
    prepare: remote((size) => lines(size, (index) => `||реклама${index}.example^`)),
  },
  "formats with many exceptions": {
    size: 5000,
    prepare: commanded(BRANCHES, ["compile", "-q", ...PLACE], undefined, {
      outputs: ["hosts", "rpz", "unbound", "dnsmasq"].map((format) => ({
        path: `o.${format}`,
        format,
      })),
    }),
  },
  "formats with many pattern exceptions": {
    size: 1000,
    prepare: commanded(
      (size) => NAMES(size * 5) + lines(size, (index) => `@@||ads${index}*.com^`),
      ["compile", "-q", ...PLACE],
      undefined,
      { outputs: ["hosts", "rpz"].map((format) => ({ path: `o.${format}`, format })) },
    ),
  },
  "why, many patterns": {
    size: 5000,
    prepare: commanded(WILD, ["why", ...PLACE, "w7x.example7.com", "ads3.example.com"]),
  },
  "diff, names": {
    size: 40_000,
    prepare: commanded(NAMES, ["diff", "old.txt", "new.txt"], (size) => NAMES(size * 1.2)),
  },
  "diff, patterns": {
    size: 4000,
    isShort: true,
    prepare: commanded(WILD, ["diff", "old.txt", "new.txt"], (size) => WILD(size * 1.1)),
  },
  "diff, exceptions": {
    size: 5000,
    prepare: commanded(BRANCHES, ["diff", "old.txt", "new.txt"], (size) => BRANCHES(size / 2)),
  },
  plan: {
    size: 5000,
    prepare: commanded(BRANCHES, ["plan", ...PLACE], (size) => BRANCHES(size * 1.1)),
  },
  stats: { size: 20_000, prepare: commanded(BRANCHES, ["stats", ...PLACE]) },
  report: { size: 4000, prepare: commanded(WILD, ["stats", "--html", ...PLACE]) },
  lint: { size: 5000, prepare: commanded(WILD, ["lint", "l.txt"]) },
};
