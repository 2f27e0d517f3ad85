import { VERSION } from "../../diagnostics/version.ts";
import { countText } from "../../diagnostics/number-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Style } from "../../diagnostics/render.ts";
import type { LintProblem } from "../../lint/lint-list.ts";

/** A file and its problems. */
export interface LintedFile {
  readonly file: string;
  readonly problems: readonly LintProblem[];
  readonly isFixed: boolean;
}

/** Report formats, by their `--format` names. */
export const LINT_REPORTS: Readonly<
  Record<string, (files: readonly LintedFile[], style: Style) => string>
> = {
  text: textReport,
  json: (files) => `${JSON.stringify(files)}\n`,
  sarif: (files) => `${JSON.stringify(sarifOf(files), undefined, 2)}\n`,
  github: githubAnnotations,
};

function textReport(files: readonly LintedFile[], style: Style): string {
  const lines = files.flatMap(({ file, problems }) =>
    problems.map(({ line, column, severity, rule, message }) => {
      const place = style.strong(`${printable(file)}:${line}:${column}`);
      const kind = severity === "error" ? style.error(severity) : style.warning(severity);
      return `${place}: ${kind}[${rule}]: ${message}`;
    }),
  );
  const all = files.flatMap(({ problems }) => problems);
  const errors = all.filter(({ severity }) => severity === "error").length;
  const fixable = all.filter(({ isFixable }) => isFixable).length;
  const fixed = files.filter(({ isFixed }) => isFixed).length;
  const counts = `${countText(files.length, "file")}: ${countText(errors, "error")}, ${countText(all.length - errors, "warning")}`;
  const rest =
    fixed > 0
      ? `; ${countText(fixed, "file")} fixed`
      : fixable > 0
        ? `; --fix fixes ${fixable} without changing what the list blocks`
        : "";
  return `${[...lines, counts + rest].join("\n")}\n`;
}

/** https://docs.oasis-open.org/sarif/sarif/v2.1.0/, limited to the fields that code hosts read. */
function sarifOf(files: readonly LintedFile[]): object {
  const rules = [
    ...new Set(files.flatMap(({ problems }) => problems.map(({ rule }) => rule))),
  ].toSorted();
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: { name: "rules-compiler", version: VERSION, rules: rules.map((id) => ({ id })) },
        },
        results: files.flatMap(({ file, problems }) =>
          problems.map(({ rule, severity, line, column, message }) => ({
            ruleId: rule,
            ruleIndex: rules.indexOf(rule),
            level: severity,
            message: { text: message },
            locations: [
              {
                physicalLocation: {
                  artifactLocation: { uri: encodeURI(file.replaceAll("\\", "/")) },
                  region: { startLine: line, startColumn: column },
                },
              },
            ],
          })),
        ),
      },
    ],
  };
}

/** Workflow commands, which GitHub shows beside the lines of a pull request. */
function githubAnnotations(files: readonly LintedFile[]): string {
  return files
    .flatMap(({ file, problems }) =>
      problems.map(
        ({ rule, severity, line, column, message }) =>
          `::${severity} file=${property(file)},line=${line},col=${column},title=${property(rule)}::${data(message)}\n`,
      ),
    )
    .join("");
}

function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
