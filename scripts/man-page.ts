import { commands } from "../src/cli/commands/registry.ts";
import { SHOWN_FLAGS, takersOf, wholeDescription } from "../src/cli/flags/flags.ts";
import { CONFIG_NAMES } from "../src/cli/flags/found-config.ts";
import { VARIABLES } from "../src/cli/flags/help.ts";
import { EXIT_MEANINGS, Exit } from "../src/diagnostics/codes.ts";
import { VERSION } from "../src/diagnostics/version.ts";

const ALL = SHOWN_FLAGS;

/** The manual page, from the same tables as `--help`. */
export function manPage(): string {
  return `${[
    `.TH RULES-COMPILER 1 "" "rules-compiler ${VERSION}" "User Commands"`,
    ".SH NAME",
    "rules\\-compiler \\- compile DNS blocklists into one list, and explain every line",
    ".SH SYNOPSIS",
    ".B rules\\-compiler",
    "[\\fBcompile\\fR] [\\fB\\-c\\fR \\fIFILE\\fR] [\\fB\\-o\\fR \\fIFILE\\fR]",
    ".br",
    ".B rules\\-compiler",
    "\\fICOMMAND\\fR [\\fIOPTIONS\\fR]",
    ".SH COMMANDS",
    ...commands.flatMap(({ name, operands, description, examples }) => [
      ".TP",
      `\\fB${text(name)}\\fR${operands === undefined ? "" : ` \\fI${text(operands)}\\fR`}`,
      `${text(description)}.`,
      ...examples.flatMap(([words, what]) => [
        ".RS",
        ".PP",
        `\\fBrules\\-compiler ${text(words)}\\fR`,
        ".br",
        text(what),
        ".RE",
      ]),
    ]),
    ".SH OPTIONS",
    ...ALL.map((flag) => ({
      ...flag,
      takers: takersOf(flag),
      description: wholeDescription(flag),
    })).flatMap(({ name, short, value, takers, description }) => [
      ".TP",
      `${short === undefined ? "" : `\\fB\\-${short}\\fR, `}\\fB\\-\\-${text(name)}\\fR${value === undefined ? "" : ` \\fI${text(value)}\\fR`}`,
      `${text(description)}${takers === undefined ? "" : ` (${takers.map(text).join(", ")})`}.`,
    ]),
    ".SH ENVIRONMENT",
    ...VARIABLES.flatMap(({ name, description, fallback }) => [
      ".TP",
      `.B ${text(name)}`,
      `${text(description)}${fallback === "" ? "" : ` (default: ${text(fallback)})`}.`,
    ]),
    ".SH EXIT STATUS",
    ...Object.entries(Exit).flatMap(([name, code]) => [
      ".TP",
      `.B ${code}`,
      text(EXIT_MEANINGS[name as keyof typeof Exit].replaceAll("`", "")),
    ]),
    ".SH FILES",
    ".TP",
    `.I ${CONFIG_NAMES.map(text).join(", ")}`,
    "The configuration, where neither \\fB\\-c\\fR nor CONFIG_PATH names one: the first that exists.",
    ".TP",
    ".I rules/",
    "Compiled lists and the records of their builds.",
  ].join("\n")}\n`;
}

/** Escapes the characters that troff would interpret. */
function text(words: string): string {
  return words
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("…", "...")
    .replace(/^[.']/, "\\&$&");
}
