// Answers issues. Environment: CONFIG, VERSION, and
// - ISSUE (title and text): whether the list blocks the names in it, by which source, since when.
// - COMMENT of a maintainer, NUMBER of its issue: writes the decisions in it, which refer to the issue, and commits them.
// - neither, FIXED (a folder): writes NUMBER.md there for each issue whose decisions are published, and proved where resolvers are to be asked.
// Writes an answer in Markdown to standard output, or nothing.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";

const { CONFIG, VERSION, ISSUE = "", COMMENT = "", NUMBER = "", FIXED } = process.env;
const { GITHUB_ACTION_PATH } = process.env;
const MOST = 5;
const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const NAME = new RegExp(`(?<![\\w@./-])(?:${LABEL}\\.)+[a-z]{2,63}(?![\\w-]|\\.\\w)`, "g");
const DECISIONS = join(statSync(CONFIG).isDirectory() ? CONFIG : dirname(CONFIG), "decisions.txt");
/** A line of a comment that is a decision, and nothing else. */
const DECISION = /^\s*\/?(allow|block)\s+(\S+)(\s+--exact)?(?:\s+--until[ =]([\w:-]+))?\s*$/i;
/** The exit code for what is not a decision. */
const USAGE = 2;

if (FIXED !== undefined) tellFixed();
else if (COMMENT !== "") decide();
else {
  const names = namesIn(ISSUE).slice(0, MOST);
  if (names.length > 0) answer(names);
}

/** Only names reach a command line; everything else that people write is ignored. */
function namesIn(text) {
  const plain = text
    .toLowerCase()
    .replaceAll("hxxp", "http")
    .replaceAll("[.]", ".")
    .replaceAll(/https?:\/\//g, " ");
  return [...new Set(plain.match(NAME) ?? [])];
}

function answer(names) {
  // A clone has the lists but no build record: build them again, in a folder of their own, which also keeps rules.lock as it is.
  const folder = mkdtempSync(join(tmpdir(), "triage-"));
  const output = ["-o", `${folder}/`];
  compiler(["compile", "--quiet", ...output], [0, 3]);
  const why = compiler(["why", ...output, "--", ...names], [0, 1]).stdout;
  rmSync(folder, { recursive: true });
  say(
    "Today's list says:",
    why.replaceAll(`${folder}/`, ""),
    "A name that a source blocks by mistake should be reported to that source, too: everybody who uses it profits.",
  );
}

function decide() {
  const wanted = COMMENT.split(/\r?\n/).flatMap((line) => {
    const [, verdict, text = "", exact, until] = DECISION.exec(line) ?? [];
    const words = [...(exact ? ["--exact"] : []), ...(until ? ["--until", until] : [])];
    return namesIn(text).map((name) => [verdict.toLowerCase(), ...words, name]);
  });
  if (wanted.length === 0) return;
  const decided = wanted.slice(0, MOST);
  // The lists of the checkout stay as they are: the next publish is the one of the workflow that commits them.
  const folder = mkdtempSync(join(tmpdir(), "triage-"));
  const said = decided.map(([verdict, ...words]) => {
    const ref = /^\d+$/.test(NUMBER) ? ["--ref", `#${NUMBER}`] : [];
    const { status, stderr } = compiler([verdict, ...ref, "-o", `${folder}/`, ...words]);
    return status === USAGE ? stderr : /^.*decided: (.*)$/m.exec(stderr)?.[1];
  });
  rmSync(folder, { recursive: true });
  const title = decided.map(([verdict, ...words]) => `${verdict} ${words.at(-1)}`).join(", ");
  const { status, stderr } = spawnSync(
    "bash",
    [join(GITHUB_ACTION_PATH, "packaging/commit-lists.sh")],
    { encoding: "utf8", env: { ...process.env, FILES: DECISIONS, TITLE: `Decide: ${title}` } },
  );
  if (status !== 0) fail(stderr, status);
  const left = wanted.length - decided.length;
  const more = left === 0 ? "" : ` One comment decides at most ${MOST}: write the other ${left} again.`;
  say("Decided:", said.join("\n"), `The next publish applies it. This issue is told when it did.${more}`);
}

function tellFixed() {
  if (!existsSync(DECISIONS)) return;
  const all = ["allow", "block"].flatMap(
    (verdict) => JSON.parse(compiler([verdict, "--list", "--json"], [0]).stdout).decisions,
  );
  const issues = Map.groupBy(
    all.filter(({ reference = "" }) => /^#\d+$/.test(reference)),
    ({ reference }) => reference.slice(1),
  );
  if (issues.size === 0) return;
  const { lists } = JSON.parse(
    compiler(
      ["why", "--json", "--", ...new Set([...issues.values()].flat().map(({ name }) => name))],
      [0, 1],
    ).stdout,
  );
  const builds = JSON.parse(compiler(["log", "--json"], [0]).stdout).lists;
  const lacking = new Set(unproved());
  mkdirSync(FIXED, { recursive: true });
  for (const [number, decisions] of issues) {
    const places = decisions.flatMap((one) => fixedIn(one, lists));
    if (places.length === 0 || places.includes(undefined) || places.some(({ list }) => lacking.has(list))) continue;
    const of = new Set(places.map(({ list }) => list));
    const shown = builds
      .filter(({ list }) => of.has(list))
      .map(({ list, events }) => `${buildText(events)} of ${code(list)}`);
    const names = decisions.map(({ verdict, name }) => `${code(name)} is ${verdict}ed`);
    writeFileSync(
      join(FIXED, `${number}.md`),
      `Fixed in build ${shown.join(", ")}: ${names.join(", ")}.\n`,
    );
  }
}

/** The lists that a decision is about; undefined where the published one does not do what it says. */
function fixedIn({ verdict, name, list }, lists) {
  return lists
    .filter((one) => list === undefined || one.list.toLowerCase() === list.toLowerCase())
    .map((one) => {
      const found = one.names.find((other) => other.name === name);
      const isBlocked = found?.verdict === "blocked";
      return found !== undefined && isBlocked === (verdict === "block") ? one : undefined;
    });
}

/** The build of a list that is published now. */
function buildText(events) {
  const { at, to } = events.find(({ event }) => event === "published" || event === "unchanged");
  return `${at.slice(0, 16).replace("T", " ")} UTC (${to.slice(0, 12)})`;
}

/** The lists that a resolver does not answer from. */
function unproved() {
  const { status, stdout, stderr } = compiler(["prove", "--json"]);
  if (status === 0 || stderr.includes('"no-resolvers"')) return [];
  const lists = stdout.trim() === "" ? [] : JSON.parse(stdout).lists;
  return lists.filter(({ resolvers }) => resolvers.some(({ outcome }) => outcome !== "proved")).map(({ list }) => list);
}

function say(head, lines, end) {
  const longest = Math.max(2, ...[...lines.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  process.stdout.write(`${head}\n\n${fence}text\n${lines.trim()}\n${fence}\n\n${end}\n`);
}

function code(text) {
  return `\`${text.replaceAll("`", "'")}\``;
}

/** Runs the compiler, whose exit code must be one of `codes`, if there are any. */
function compiler([command, ...words], codes) {
  const { status, stdout, stderr } = spawnSync(
    "npx",
    ["--yes", `rules-compiler@${VERSION}`, command, "-c", CONFIG, ...words],
    { encoding: "utf8", maxBuffer: 1 << 28 },
  );
  if (codes !== undefined && !codes.includes(status)) fail(stderr, status);
  return { status, stdout, stderr };
}

function fail(text, status) {
  // A runner reads commands in what lists say.
  process.stderr.write(text.replaceAll("##[", "## ["));
  process.exit(status ?? 1);
}
