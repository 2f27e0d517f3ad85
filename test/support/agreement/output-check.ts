import { isIP } from "node:net";
import { type AnswerTest, answerOf } from "../reference/format-files.ts";
import { ANSWER_READERS, FORMAT_READERS } from "../reference/format-readers.ts";
import { ListMatcher, type Rule } from "../reference/list-matcher.ts";
import { isAtOrBelow } from "../reference/names.ts";
import { RefusedFile } from "../reference/readers/lines-of.ts";
import { MemoryProject, type Said } from "../memory-project.ts";
import { Random } from "../random.ts";
import type { RandomList } from "./random-list.ts";
import { decisionsText, randomDecisions } from "./decision-check.ts";
import { hasEdgeHyphen } from "./random-names.ts";
import { spelling } from "./trials.ts";
import { listIn } from "../documents.ts";

export interface OutputTrial {
  readonly policy: "skip" | "widen";
  readonly transformations: readonly string[];
  /** How many names that the list does not block are protected. */
  readonly protects: number;
  /** What each format answers for a blocked name, if not the usual. */
  readonly answers?: Readonly<Record<string, object | string>>;
  /** The lines come from several sources, and rules leave the list after others were dropped for them. */
  readonly lateness?: Lateness;
}

/** Everything that drops rules, or changes them, after or before others were dropped for them. */
export interface Lateness {
  /** For each source, the share of the lines that it has, what it goes through on its own, and what it may say. */
  readonly sources: readonly {
    readonly share: number;
    readonly transformations: readonly string[];
    readonly trust: string;
  }[];
  readonly minSources: number;
  /** How many of the names are popular. */
  readonly popular: number;
  /** Only rules for popular names stay. */
  readonly isRanked: boolean;
  /** The share of the lines that was published before; what is new is not to block popular names. 0: nothing was. */
  readonly before: number;
  readonly hasRecord: boolean;
  readonly exclusions: readonly string[];
  readonly inclusions: readonly string[];
  readonly allow: readonly string[];
  /** The file of decisions. */
  readonly decisions: string;
}

const OWN_CHAINS = [[], [], ["Compress"], ["RemoveModifiers"], ["InvertAllow"]];
const TRUSTS = ["full", "full", "standard", "block-only"];

export function randomLateness(random: Random, names: readonly string[]): Lateness {
  const asked = (): string => random.pick(names.filter((name) => !hasEdgeHyphen(name)));
  const some = (often: number, make: () => string): string[] =>
    random.chance(often) ? random.times(1 + random.below(3), make) : [];
  const rule = (): string => random.pick(["||%^", "@@||%^", "%", "/%$/"]).replace("%", asked());
  return {
    sources: random.times(1 + random.below(3), () => ({
      share: random.pick([0.4, 0.7, 1]),
      transformations: random.pick(OWN_CHAINS),
      trust: random.pick(TRUSTS),
    })),
    minSources: random.chance(0.4) ? 2 : 1,
    popular: random.chance(0.6) ? 30 : 0,
    isRanked: random.chance(0.5),
    before: random.chance(0.4) ? 0.5 : 0,
    hasRecord: random.chance(0.5),
    exclusions: some(0.3, rule),
    inclusions: random.chance(0.15) ? ["/[a-m]/", "@@", "com^"] : [],
    allow: some(0.3, () => random.pick(["%", "||%^", "*.%"]).replace("%", asked())),
    decisions: random.chance(0.4) ? decisionsText(randomDecisions(random, names)) : "",
  };
}

interface OutputReport {
  readonly format?: string;
  readonly losses?: readonly { readonly reason: string; readonly examples: readonly string[] }[];
}

interface Judged {
  readonly format: string;
  readonly trial: OutputTrial;
  readonly list: ListMatcher;
  readonly source: ListMatcher;
  readonly guarded: ReadonlySet<string>;
  readonly reasons: ReadonlySet<string>;
  readonly isBlocked: (name: string) => boolean;
  /** What the software answers, if the format has answers of its own. */
  readonly answer: AnswerTest | undefined;
}

const FORMATS = Object.keys(FORMAT_READERS);
const BY_NAME = new Set(["hosts", "domains"]);

/** Every format, read as its software reads it, beside the list that is published with it. */
export async function checkOutputs(
  { lines, names }: RandomList,
  trial: OutputTrial,
  seed = 0,
): Promise<string[]> {
  const source = new ListMatcher(lines);
  const open = names.filter(
    (name) => !source.isBlocked(name) && source.meaning(name) !== "rewritten",
  );
  const guarded = new Set(open.slice(0, trial.protects));
  const project = new MemoryProject({
    "c.json": JSON.stringify(configOf(trial, guarded)),
    "a.txt": `${lines.join("\n")}\n`,
    ...lateFiles(lines, names, trial.lateness, new Random(seed)),
    "never.txt": [...guarded].map((name) => `${name}\n`).join(""),
  });
  const accepted = [
    "too-few-rules",
    "empty-output",
    ...(guarded.size > 0 ? [] : ["blocks-suffix"]),
  ];
  const compiled = async (): Promise<Said> =>
    await project.run(
      "compile",
      "-c",
      "c.json",
      "--json",
      "--no-cache",
      ...(trial.lateness?.hasRecord === false ? ["--no-record"] : []),
      ...accepted.flatMap((code) => ["--accept", code]),
    );
  await publishBefore(project, trial.lateness, compiled);
  const { exit, stdout, stderr } = await compiled();
  // A guard may refuse what it cannot publish without a protected name.
  if (exit === 5 && guarded.size > 0) return [];
  if (exit !== 0) return [`compile ends with ${exit}: ${stderr}`];
  const { outputs } = listIn(stdout) as { outputs: OutputReport[] };
  const list = ListMatcher.of(project.text("rules/n.txt"));
  const faults: string[] = [];
  for (const format of FORMATS) {
    const losses = outputs.find((one) => one.format === format)?.losses ?? [];
    const reasons = new Set(losses.map(({ reason }) => reason));
    const files = {
      block: project.text(`rules/out.${format}`),
      allow: project.text(`rules/out.allow.${format}`),
    };
    let isBlocked;
    let answer: AnswerTest | undefined;
    try {
      answer = ANSWER_READERS[format]?.(files);
      const blocking = blockAnswers(format, trial.answers?.[format]);
      isBlocked =
        answer === undefined || blocking === undefined
          ? FORMAT_READERS[format]!(files)
          : (name: string): boolean => blocking.has(answer!(name));
    } catch (error) {
      if (!(error instanceof RefusedFile)) throw error;
      faults.push(`${format} refuses its file: ${error.message}`);
      continue;
    }
    // Names below a rule may be lost with the lines that left the list before it was compressed.
    const named = trial.lateness === undefined ? source : list;
    const judged = { format, trial, list, source: named, guarded, reasons, isBlocked, answer };
    for (const name of names) {
      const wrong = judge(name, judged);
      if (wrong !== undefined) faults.push(wrong);
    }
  }
  return faults;
}

/** Publishes a part of each source, so that the rest is new. */
async function publishBefore(
  project: MemoryProject,
  lateness: Lateness | undefined,
  compiled: () => Promise<Said>,
): Promise<void> {
  if (lateness === undefined || lateness.before === 0) return;
  const files = lateness.sources.map((_, index) => `${index}.txt`);
  const texts = files.map((file) => project.text(file));
  for (const [index, file] of files.entries()) {
    const lines = texts[index]!.split("\n");
    project.write(file, lines.slice(0, Math.ceil(lines.length * lateness.before)).join("\n"));
  }
  await compiled();
  for (const [index, file] of files.entries()) project.write(file, texts[index]!);
}

function lateFiles(
  lines: readonly string[],
  names: readonly string[],
  lateness: Lateness | undefined,
  random: Random,
): Record<string, string> {
  if (lateness === undefined) return {};
  const files = lateness.sources.map(({ share }, index): [string, string] => [
    `${index}.txt`,
    lines.map((line) => (random.chance(share) ? `${line}\n` : "")).join(""),
  ]);
  const popular = names.slice(0, lateness.popular).map((name, index) => `${index + 1},${name}\n`);
  const { decisions } = lateness;
  return { ...Object.fromEntries(files), "top.csv": popular.join(""), "decisions.txt": decisions };
}

function lateConfig(lateness: Lateness): object {
  const { sources, minSources, popular, isRanked, exclusions, inclusions, allow } = lateness;
  const top = { top: popular };
  return {
    sources: sources.map(({ transformations, trust }, index) => ({
      source: `${index}.txt`,
      name: `S${index}`,
      type: "adblock",
      trust,
      ...(transformations.length > 0 && { transformations }),
    })),
    ...(minSources > 1 && sources.length > 1 && { min_sources: minSources }),
    ...(popular > 0 && {
      ranks: [{ source: "top.csv", type: "tranco" }],
      ...(isRanked ? { fit: top } : { guards: { newly_blocks: top.top } }),
    }),
    ...(exclusions.length > 0 && { exclusions }),
    ...(inclusions.length > 0 && { inclusions }),
    ...(allow.length > 0 && { allow }),
  };
}

function configOf(
  { policy, transformations, lateness, answers }: OutputTrial,
  guarded: ReadonlySet<string>,
): object {
  return {
    name: "N",
    sources: [{ source: "a.txt", name: "A", type: "adblock" }],
    ...(lateness && lateConfig(lateness)),
    transformations,
    ...(guarded.size > 0 && { guards: { protect: ["never.txt"] } }),
    outputs: FORMATS.map((format) => ({
      format,
      file: `out.${format}`,
      ...(policy === "widen" && { on_loss: policy }),
      ...(answers?.[format] !== undefined && { answer: answers[format] }),
    })),
  };
}

function judge(name: string, judged: Judged): string | undefined {
  const { format, trial, list, source, reasons, guarded } = judged;
  const { meaning, by } = list.decide(name);
  const isBlocked = judged.isBlocked(name);
  const other = judgeAnswer(name, judged);
  if (other !== undefined) return other === "" ? undefined : other;
  if (isBlocked === (meaning === "blocked")) return undefined;
  const texts = by.map(({ text }) => text).join(" or ") || "nothing";
  const where = `${format}, ${name} by ${texts} (${trial.transformations.join()}; lost: ${[...reasons].join()})`;
  const shape = shapeOf(by[0]);
  if (!isBlocked) {
    if (BY_NAME.has(format) && source.named().has(name))
      return `lacks a name that is blocked${shape}: ${where}`;
    const isSilent = by.some((rule) => !lossesOf(rule, list).some((reason) => reasons.has(reason)));
    return isSilent ? `misses a name and does not report it${shape}: ${where}` : undefined;
  }
  if (guarded.has(name)) return `blocks a protected name: ${where}`;
  // A response code without records is no answer either.
  const isUnanswered =
    meaning === "rewritten" && by.every(({ rewrite = "" }) => !rewrite.includes(" "));
  if (
    isUnanswered &&
    list.matching(name).some(({ isAllow, rewrite }) => !isAllow && rewrite === undefined)
  )
    return undefined;
  if (meaning === "neither")
    return trial.policy === "widen"
      ? undefined
      : `blocks a name that the list does not block: ${where}`;
  return isUnknowable(name, judged, by)
    ? undefined
    : `blocks a name that the list ${meaning === "rewritten" ? "rewrites" : "allows"}${shape}: ${where}`;
}

/** What is wrong with an answer that is no block, or "" if it is right; undefined if the name has none. */
function judgeAnswer(name: string, judged: Judged): string | undefined {
  const { format, trial, list, reasons, answer } = judged;
  const said = answer?.(name);
  if (said === undefined) return undefined;
  const { meaning, by } = list.decide(name);
  const wanted = meaning === "rewritten" ? wantedAnswer(by, list, name) : undefined;
  if (said !== "" && said === wanted) return "";
  const where = `${format}, ${name}: ${said} instead of ${wanted ?? meaning} by ${by.map(({ text }) => text).join(" or ")}`;
  if (wanted !== undefined && said === "" && wanted !== `CNAME ${name}`) {
    const isReported = ["rewrite", "narrowed", "not-a-name"].some((reason) => reasons.has(reason));
    return isReported ? "" : `does not answer and does not report it: ${where}`;
  }
  if (said === "" || judged.isBlocked(name)) return undefined;
  // Nobody can list all names that a pattern rewrites.
  const isPattern = by.some(({ host, rewrite }) => host === undefined && rewrite !== undefined);
  if (isPattern && reasons.has("rewrite") && !list.names().has(name)) return "";
  if (meaning !== "rewritten" && trial.policy === "widen") return "";
  return `answers what the list does not mean: ${where}`;
}

/** What a resolver answers by several rewrites: the first name or code, or else all addresses. */
function wantedAnswer(by: readonly Rule[], { rules }: ListMatcher, name: string): string {
  const records: string[] = [];
  const inOrder = by.toSorted((a, b) => rules.indexOf(a) - rules.indexOf(b));
  for (const { rewrite = "", isHosts } of inOrder) {
    const record =
      isHosts && rewrite !== "" ? `${isIP(rewrite) === 4 ? "A" : "AAAA"} ${rewrite}` : rewrite;
    if (record.startsWith("A")) records.push(record);
    else if (record !== "NOERROR") return record === `CNAME ${name}` ? "" : record;
  }
  return records.length === 0 ? "NOERROR" : answerOf(records);
}

/** What a file answers for names that it blocks. Some blocks of names alone have no other answer. */
function blockAnswers(
  format: string,
  answer: object | string = "",
): ReadonlySet<string> | undefined {
  if (answer === "") return undefined;
  const alone = format === "unbound" ? ["A 0.0.0.0"] : [];
  if (typeof answer === "string") {
    const words: Record<string, string> = {
      nxdomain: "NXDOMAIN",
      null: "A 0.0.0.0, AAAA ::",
      nodata: "NOERROR",
      refused: "REFUSED",
    };
    return new Set([words[answer]!, ...alone]);
  }
  if ("cname" in answer) return new Set([`CNAME ${String(answer.cname)}`]);
  const addresses = (answer as { address: string[] }).address;
  const missing =
    format === "hosts"
      ? [4, 6]
          .filter((one) => !addresses.some((a) => isIP(a) === one))
          .map((one) => (one === 4 ? "0.0.0.0" : "::"))
      : [];
  return new Set([
    answerOf([...addresses, ...missing].map((one) => `${isIP(one) === 4 ? "A" : "AAAA"} ${one}`)),
  ]);
}

const PAGE = ["192.0.2.10", "2001:db8::10"];
/** All answers of each format. */
const ANSWERS: Readonly<Record<string, readonly (object | string)[]>> = {
  hosts: ["null", { address: PAGE }, { address: PAGE.slice(0, 1) }, { address: PAGE.slice(1) }],
  dnsmasq: ["nxdomain", "null", { address: PAGE }, { address: PAGE.slice(0, 1) }],
  "dnsmasq-servers": ["nxdomain"],
  unbound: ["nxdomain", "null", "nodata", "refused", { address: PAGE }, { cname: "" }],
  rpz: ["nxdomain", "null", "nodata", { address: PAGE }, { address: PAGE.slice(1) }, { cname: "" }],
};

/** An answer for each format that has some. The name of the page is one that the list may block. */
export function randomAnswers(
  random: Random,
  names: readonly string[],
): NonNullable<OutputTrial["answers"]> {
  const page = random.pick(names.filter((name) => !hasEdgeHyphen(name)));
  const entries = Object.entries(ANSWERS).map(([format, all]): [string, object | string] => {
    const answer = random.pick(all);
    return [format, typeof answer === "object" && "cname" in answer ? { cname: page } : answer];
  });
  return Object.fromEntries(entries);
}

function shapeOf(rule: Rule | undefined): string {
  if (rule === undefined) return "";
  return ` (${rule.denied.length > 0 ? "denyallow" : rule.shape}${spelling([rule.text])})`;
}

/**
 * Whether a name is in no line of the list and only an exception that no format can say frees it: nobody can list such
 * names. The exception must be reported.
 */
function isUnknowable(
  name: string,
  { list, source, reasons }: Judged,
  by: readonly Rule[],
): boolean {
  if (list.names().has(name) || source.names().has(name)) return false;
  return by.every((rule) => {
    const reason = patternLoss(rule);
    if (reason === undefined) return false;
    return reasons.has(rule.rewrite === undefined ? reason : "rewrite");
  });
}

/** Why no format but one that says everything can say a rule. */
function patternLoss({ shape, denied }: Rule): string | undefined {
  if (denied.length > 0) return "modifier";
  return shape === "regex" || shape === "pattern" ? shape : undefined;
}

/** The reasons that a report may give when a rule is not written, or says less. */
function lossesOf(rule: Rule, list: ListMatcher): string[] {
  const { shape, host } = rule;
  const own = patternLoss(rule) ?? (shape === "subtree" ? "narrowed" : shape);
  // What an exception or a rewrite leaves of a subtree may be the name alone, or only what is below it.
  const isParted = list.rules.some(
    (one) =>
      (one.isAllow || one.rewrite !== undefined) &&
      host !== undefined &&
      isAtOrBelow(one.host ?? "", host),
  );
  const parts = isParted ? ["exact", "below"] : [];
  return [own, "narrowed", "excepted", "nested", "not-a-name", ...parts];
}
