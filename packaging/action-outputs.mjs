// Reads the document of `compile --json` or `plan --json` from standard input, and its problems, one JSON text per line, from the
// file PROBLEMS. Writes the outputs of the GitHub Action to standard output, annotations to standard error, and the job summary
// to GITHUB_STEP_SUMMARY.
import { randomBytes } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import process from "node:process";

const text = readFileSync(0, "utf8");
const isPlan = process.env.MODE === "plan";
// There is no document if the configuration is invalid.
const { lists } = text.trim() === "" ? { lists: [] } : JSON.parse(text);
const problems = readProblems();
annotate();
if (isPlan) writePlan();
else writeLists();
if (lists.length === 0) writeFailure();

function readProblems() {
  const file = process.env.PROBLEMS;
  const lines = file ? readFileSync(file, "utf8").split("\n") : [];
  return lines.filter(Boolean).map((line) => {
    try {
      return JSON.parse(line);
    } catch {
      // Output of npx, or a bug.
      return { severity: "debug", message: line };
    }
  });
}

/** Shows problems beside the line that they are about. A runner reads such lines as commands, so everything is escaped. */
function annotate() {
  const kinds = { error: "error", warning: "warning", note: "notice" };
  for (const { severity, code, message, cause, hint, at } of problems) {
    const kind = kinds[severity];
    const text = [message, cause && `because: ${cause}`, hint && `hint: ${hint}`]
      .filter(Boolean)
      .join("\n");
    if (kind === undefined) {
      // A runner reads a command after spaces, and one of the older form anywhere in a line.
      process.stderr.write(`| ${oneLine(message).replaceAll("##[", "## [")}\n`);
      continue;
    }
    const place = at === undefined ? [] : [["file", at.file], ["line", at.line], ["col", at.column]];
    const properties = [...place, ["title", code]]
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}=${escaped(value).replace(/[:,]/g, percent)}`);
    process.stderr.write(`::${kind} ${properties.join(",")}::${escaped(text)}\n`);
  }
}

function escaped(value) {
  return String(value).replace(/[%\r\n]/g, percent);
}

function percent(sign) {
  return `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}

/** Without a document, nothing was compiled. */
function writeFailure() {
  const errors = problems.filter(({ severity }) => severity === "error");
  const rows = errors.map(({ code, message, hint, at }) => {
    const where = at === undefined ? "" : ` (${cell([at.file, at.line].filter(Boolean).join(":"))})`;
    return `- \`${oneLine(code)}\` ${cell(message)}${where}${hint ? `. ${cell(hint)}` : ""}`;
  });
  const all = rows.length > 0 ? rows : ["- The log of the job shows why."];
  summarize(["### Nothing was compiled", "", ...all].join("\n"));
}

function writeLists() {
  const good = lists.filter(isPublished);
  // Sorted by name, whatever the order in the configuration.
  const sorted = [...good].sort((a, b) => (a.list < b.list ? -1 : 1));
  const files = sorted.flatMap(({ files: own, outputs }) => [
    ...outputs.flatMap((one) => [one.file, ...(one.files ?? [])]),
    ...own,
  ]);
  write(
    "rules",
    good.reduce((sum, { rules }) => sum + rules, 0),
  );
  write(
    "degraded",
    good.some(({ degraded }) => degraded),
  );
  write("file", files[0] ?? "");
  write("files", [...new Set(files.map(oneLine))].join("\n"));
  const rows = lists.map((report) => {
    const outcome = !isPublished(report)
      ? `**not published**: ${problemsOf([...report.violations, ...report.diagnostics])}`
      : report.outputs.some((one) => one.outcome === "written")
        ? "published"
        : "unchanged";
    const bad = (report.sources ?? []).filter(({ state }) =>
      /^(?:stale|held|dropped)$/.test(state),
    );
    const failed = bad.map(({ label, state }) => `${cell(label)} (${state})`).join(", ");
    return `| ${cell(report.list)} | ${isPublished(report) ? report.rules : "–"} | ${outcome} | ${failed || "–"} |`;
  });
  if (rows.length === 0) return;
  summarize(
    [
      "### Lists",
      "",
      "| list | rules | outcome | failed sources |",
      "|---|---:|---|---|",
      ...rows,
    ].join("\n"),
  );
}

/** If a list is refused or fails, the published one stays. */
function isPublished({ status }) {
  return status !== "refused" && status !== "failed";
}

function writePlan() {
  const rows = lists.map(({ list, report, violations, added, removed, blocked, freed }) => {
    const verdict =
      violations.length > 0
        ? `**would be refused**: ${problemsOf(violations)}`
        : added.length + removed.length === 0
          ? "no change"
          : "would be published";
    return `| ${cell(list)} | ${report.rules} | +${added.length} −${removed.length} | ${blocked} | ${freed} | ${verdict} |`;
  });
  const isChanged = lists.some(({ added, removed }) => added.length + removed.length > 0);
  write("changes", isChanged);
  write(
    "refused",
    lists.some(({ violations }) => violations.length > 0),
  );
  const head = [
    "### Plan",
    "",
    "| list | rules | changed | newly blocked | no longer blocked | verdict |",
    "|---|---:|---:|---:|---:|---|",
  ];
  const plan = rows.length === 0 ? "" : [...head, ...rows].join("\n");
  write("plan", plan);
  summarize(plan);
}

function problemsOf(diagnostics) {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  return errors.map(({ code, message }) => `\`${oneLine(code)}\` ${cell(message)}`).join("; ");
}

/** A value may have several lines; its random delimiter prevents injection by its content. */
function write(name, value) {
  const end = `end-${randomBytes(16).toString("hex")}`;
  const lines = String(value);
  process.stdout.write(
    lines.includes("\n") || lines.includes("|") || name === "files"
      ? `${name}<<${end}\n${lines}\n${end}\n`
      : `${name}=${lines}\n`,
  );
}

function summarize(markdown) {
  const file = process.env.GITHUB_STEP_SUMMARY;
  if (file && markdown !== "") appendFileSync(file, `${markdown}\n\n`);
}

function oneLine(value) {
  return String(value).replace(/[\r\n]/g, "");
}

/** Escapes names and messages, because they contain text from lists and configurations. */
function cell(value) {
  return String(value)
    .replace(/[\r\n]+/g, " ")
    .replace(/[\\`*_{}[\]<>#|!]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
