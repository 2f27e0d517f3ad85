// Proposes the next publish as a branch: plans, decides how risky the change is, publishes the plan on a new branch, commits and pushes. Sources are
// fetched once, so that the branch has what the plan describes. Writes the
// outputs of the GitHub Action to standard output. Environment: CONFIG, VERSION, MERGE_UP_TO, GITHUB_ACTION_PATH.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";

const { CONFIG, VERSION, MERGE_UP_TO = "0", GITHUB_ACTION_PATH } = process.env;
const REFUSED = 5;
/** Warnings that a person should read before the list is published. */
const RISKY = new Set([
  "source-stale",
  "source-held",
  "source-dropped",
  "protected-names",
  "protected-blocked",
  "new-exceptions",
  "popular-blocked",
]);
/** GitHub accepts 65,536 characters. */
const BODY_LIMIT = 60_000;

const folder = mkdtempSync(join(tmpdir(), "plan-"));
const saved = join(folder, "lists.plan");
const plan = compiler(["plan", "--json", "--markdown", "--update", "--save", saved], [0, REFUSED]);
const warnings = problemsOf(plan.stderr).filter(({ code }) => RISKY.has(code));
const { lists } = JSON.parse(plan.stdout);
const isChanged = lists.some(({ added, removed }) => added.length + removed.length > 0);
const refused = [
  ...new Set(lists.flatMap(({ violations }) => violations.map(({ code }) => code))),
].toSorted();
write("changes", isChanged);
write("refused", refused.length > 0);
if (isChanged) propose();

function propose() {
  const names = lists.reduce((sum, { blocked, freed }) => sum + blocked + freed, 0);
  const branch = `rules-compiler/${createHash("sha256")
    .update(JSON.stringify(lists.map(({ added, removed }) => [added, removed])))
    .digest("hex")
    .slice(0, 12)}`;
  const risk =
    refused.length > 0
      ? "refused"
      : warnings.length > 0 || lists.some(({ report }) => report.degraded)
        ? "high"
        : names > Number(MERGE_UP_TO)
          ? "review"
          : "low";
  write("branch", branch);
  if (git(["ls-remote", "--heads", "origin", branch]) !== "") {
    write("proposed", false);
    return;
  }
  git(["switch", "--quiet", "--create", branch]);
  const accepted = refused.flatMap((code) => ["--accept", code]);
  const { stdout: report } = compiler(["apply", saved, "--json", ...accepted], [0]);
  const title = titleOf(risk);
  const run = { input: report, env: { ...process.env, MODE: "compile", GITHUB_STEP_SUMMARY: "" } };
  const outputs = program(
    process.execPath,
    [join(GITHUB_ACTION_PATH, "packaging/action-outputs.mjs")],
    run,
  );
  const files = /^files<<(\S+)\n([^]*?)\n\1$/m.exec(outputs)?.[2] ?? "";
  const lock = join(statSync(CONFIG).isDirectory() ? CONFIG : dirname(CONFIG), "rules.lock");
  program("bash", [join(GITHUB_ACTION_PATH, "packaging/commit-lists.sh")], {
    env: { ...process.env, FILES: `${files}\n${lock}`, TITLE: title },
  });
  const body = join(folder, "body.md");
  writeFileSync(body, bodyOf(risk, lists.map(({ markdown }) => markdown).join("\n")));
  write("proposed", true);
  write("title", title);
  write("body", body);
  write("label", `risk: ${risk}`);
  write("merge", risk === "low");
}

function titleOf(risk) {
  const [added, removed] = ["added", "removed"].map((side) =>
    lists.reduce((sum, list) => sum + list[side].length, 0),
  );
  const change = `+${added} −${removed} rules`;
  return risk === "refused"
    ? `Review refused lists: ${change} (${refused.join(", ")})`
    : `Update lists: ${change}`;
}

function bodyOf(risk, text) {
  const says = {
    refused:
      "**A guard refuses this change.** The branch contains what would be published if you accept it. Merge it only if you want that.",
    high: "A person should read this before it is merged: a source failed, or names that matter are concerned.",
    review: `More than ${MERGE_UP_TO} names change, so this is not merged by itself.`,
    low: `At most ${MERGE_UP_TO} names change, no guard and no warning concerns them.`,
  };
  const whole = `${says[risk]}\n\n${text}`;
  if (whole.length <= BODY_LIMIT) return whole;
  const shown = whole.slice(0, whole.lastIndexOf("\n", BODY_LIMIT));
  const [fence] = /^`{3,}/m.exec(text) ?? ["```"];
  return `${shown}\n${fence}\n\nThe plan is longer than a pull request may be. Run \`rules-compiler plan\` to see all of it.\n`;
}

function problemsOf(stderr) {
  return stderr.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}

/** Runs the compiler, whose exit code must be one of `codes`. */
function compiler([command, ...words], codes) {
  const { status, stdout, stderr } = spawnSync(
    "npx",
    ["--yes", `rules-compiler@${VERSION}`, command, "-c", CONFIG, ...words],
    {
      encoding: "utf8",
      maxBuffer: 1 << 30,
    },
  );
  if (!codes.includes(status)) {
    process.stderr.write(stderr.replaceAll("##[", "## ["));
    process.exit(status ?? 1);
  }
  return { stdout, stderr };
}

function program(name, words, options = {}) {
  const { status, stdout, stderr } = spawnSync(name, words, {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    ...options,
  });
  if (status !== 0) {
    process.stderr.write(stderr.replaceAll("##[", "## ["));
    process.exit(status ?? 1);
  }
  return stdout;
}

function git(words) {
  return program("git", words).trim();
}

function write(name, value) {
  process.stdout.write(`${name}=${String(value).replace(/[\r\n]/g, " ")}\n`);
}
