import type { Exit } from "./exit.ts";

import { GUARD_CODES } from "./guard-codes.ts";
import { HOOK_CODES } from "./hook-codes.ts";
import { PUBLISH_CODES } from "./publish-codes.ts";
import { RESOLVER_CODES } from "./resolver-codes.ts";
import { SERVER_CODES } from "./server-codes.ts";
import { SOURCE_CODES } from "./source-codes.ts";

export interface CodeEntry {
  /** The exit code that an error of this kind ends in; absent for warnings. */
  readonly exit?: Exit;
  /** When it is given. */
  readonly meaning: string;
  /** What to do about it. */
  readonly hint: string;
  /** What is reported when the condition ends, with `{}` for its subject. Nothing is reported without it. */
  readonly over?: string;
}

/** Diagnostics of everything but sources, guards, publishing, resolvers, servers and hooks. */
const COMPILE_CODES = {
  "config-not-found": {
    exit: 2,
    meaning: "The configuration file does not exist.",
    hint: "The path is relative to the working directory. Set another with -c or CONFIG_PATH, or create one with rules-compiler init",
  },
  "several-configurations": {
    meaning:
      "The working directory has several configuration files with default names. The first one is used.",
    hint: "Select one with -c or CONFIG_PATH",
  },
  "config-unreadable": {
    exit: 2,
    meaning: "The configuration file exists but cannot be read, or is larger than 1 MiB.",
    hint: "Check the permissions and that the path is a regular file of at most 1 MiB",
  },
  "config-extension": {
    exit: 2,
    meaning: "The configuration file has an unknown extension.",
    hint: "Use .json, .jsonc, .yaml or .yml; the extension selects the format",
  },
  "config-syntax": {
    exit: 2,
    meaning: "The configuration has a syntax error.",
    hint: "Comments need .jsonc; trailing commas, single quotes and unquoted keys are invalid in JSON",
  },
  "config-invalid": {
    exit: 2,
    meaning: "A field of the configuration has an invalid value.",
    hint: "See docs/reference/configuration.md",
  },
  "config-required": {
    exit: 2,
    meaning: "A required field is missing.",
    hint: "See docs/reference/configuration.md",
  },
  "unknown-transformation": {
    exit: 2,
    meaning: "The configuration names an unknown transformation.",
    hint: "Names are case-sensitive",
  },
  "several-validators": {
    exit: 2,
    meaning: "More than one Validate transformation applies to the same list.",
    hint: "Use one of them, either at the top level or in the sources",
  },
  "bad-regex-entry": {
    exit: 2,
    meaning: "An exclusion or inclusion of the form /…/ is not a valid regular expression.",
    hint: "Fix the expression, or remove the slashes to match plain text",
  },
  "unknown-key": {
    meaning: "The configuration has an unknown field, which is ignored.",
    hint: "Remove it, or correct its spelling",
  },
  "source-incomplete": {
    meaning: "A source has other fields, but no name or no type. `validate` shows it.",
    hint: "Without a name, the source itself is the label; without a type, adblock is assumed",
  },
  "unknown-flag": {
    exit: 2,
    meaning: "The command line has an unknown option, an unknown command or an invalid value.",
    hint: "See rules-compiler --help",
  },
  "not-covered": {
    exit: 5,
    meaning:
      "A list does not block everything that a list in its `covers` blocks. The published list stays.",
    hint: "Add the missing sources, or publish once with --accept not-covered",
  },
  "cover-unknown": {
    meaning: "A list in `covers` was neither compiled in this run nor published before.",
    hint: "Compile both lists in one run, without --filter",
  },
  "setup-unreadable": {
    exit: 2,
    meaning: "The file given to `audit` or `init --from` cannot be read.",
    hint: "Check the path and its permissions; Pi-hole's database is /etc/pihole/gravity.db",
  },
  "setup-unknown": {
    exit: 2,
    meaning: "The file is not a known configuration and has no URLs of lists.",
    hint: "Supported: AdGuardHome.yaml, gravity.db, blocky's YAML, HostlistCompiler's JSON, a hosts file, or one URL per line",
  },
  "traffic-unreadable": {
    exit: 2,
    meaning: "A query log given to `--traffic` cannot be read.",
    hint: "Check the path and its permissions; a compressed log must be complete",
  },
  "traffic-unknown": {
    exit: 2,
    meaning: "A file given to `--traffic` is not a query log in a known format.",
    hint: "Supported: logs of AdGuard Home, dnsmasq, unbound, BIND and dnsdist, the output of dnstap-read, pihole-FTL.db, or one name per line",
  },
  "file-exists": {
    exit: 2,
    meaning: "`init` would overwrite an existing file.",
    hint: "Choose another name, or remove the file",
  },
  "plugins-off": {
    exit: 2,
    meaning: "The configuration uses plugins, which run only with --permit plugins.",
    hint: "Plugins run with your permissions; if you trust them, add --permit plugins",
  },
  "plugin-bad": {
    exit: 2,
    meaning: "A plugin cannot be loaded, or does not have the required shape.",
    hint: "See docs/guide/plugins.md",
  },
  "plugin-failed": {
    exit: 2,
    meaning: "A transformation of a plugin threw an error or returned an invalid line.",
    hint: "Fix the plugin; nothing was published",
  },
  "path-outside": {
    exit: 2,
    meaning:
      "The configuration, a stored build or a saved plan would write outside the rules directory, or through a folder that is a link to outside. It may come from elsewhere, so this needs permission.",
    hint: "Set RULES_DIR to the folder and use a relative name, or add --permit paths",
  },
  "path-unsafe": {
    exit: 2,
    meaning:
      "A file to write is hidden, in a hidden folder, or a symbolic link. Such files belong to other programs.",
    hint: "Choose another name",
  },
  "reads-outside": {
    meaning:
      "The configuration names local files outside of its own folder. They are read; a configuration that comes from elsewhere should not need them. It is reported once, and again when it names another one.",
    hint: "Check what the configuration does with them",
  },
  "list-alone": {
    meaning:
      "`-o FILE` and `-o -` write the list alone. The other formats, the manifest, patches and combined files stay as they are published.",
    hint: "To write all of them elsewhere, use a folder: -o FOLDER/",
  },
  "several-lists": {
    exit: 2,
    meaning: "The configuration has several lists, but the command needs one.",
    hint: "Select one with --filter NAME",
  },
  "unknown-list": {
    exit: 2,
    meaning: "No list of the configuration matches `--filter`.",
    hint: "Use the name of a list; * matches any text",
  },
  "same-file": {
    exit: 2,
    meaning:
      "Two lists have the same output file. If they are lists of two configurations, the second one is refused while the first one exists and names that file. Nothing was written.",
    hint: "Use names or output files that differ in letters or digits",
  },
  "overwrites-input": {
    exit: 2,
    meaning:
      "An output would replace the configuration, a local source or another file that the list is made from. Nothing was written.",
    hint: "Name another file",
  },
  "bad-allow-entry": {
    exit: 2,
    meaning: "An entry of `allow` is not a valid name.",
    hint: "Write a name, a hosts line, ||name^, @@||name^ or *.name",
  },
  "entries-ignored": {
    meaning:
      "A file of `allow_sources`, `exclusions_sources`, `inclusions_sources` or `guards.protect` has entries that are invalid, or not permitted in a remote file.",
    hint: "Remove the entries, or use a local copy of the file if they are intended",
  },
  "allow-unused": {
    meaning: "Entries of the allowlist match no rule.",
    hint: "Remove them, or check their spelling",
  },
  "output-failed": {
    exit: 6,
    meaning: "The compiled list could not be written. The existing files are unchanged.",
    hint: "Check that the folder exists, is writable and has free space",
  },
  "environment-ignored": {
    meaning: "An environment variable has an unknown value. Its default is used.",
    hint: "Correct the value, or unset the variable",
  },
  "environment-invalid": {
    exit: 2,
    meaning: "An environment variable has an invalid value.",
    hint: "Correct the variable, or unset it",
  },
  "lock-missing": {
    exit: 2,
    meaning: "rules.lock is missing, or has no entry for this configuration.",
    hint: "Create it with --update, and commit it with the configuration",
  },
  "lock-unreadable": {
    exit: 2,
    meaning: "rules.lock exists but is not a valid lockfile.",
    hint: "Restore it from version control, or create a new one with --update",
  },
  "lock-version": {
    exit: 2,
    meaning:
      "rules.lock was written by another version, which may compile the same sources differently.",
    hint: "Use that version, or update the lockfile with --update",
  },
  "lock-mismatch": {
    exit: 4,
    meaning: "A source differs from rules.lock, and the locked version is not cached.",
    hint: "Update the lockfile with --update",
  },
  locked: {
    exit: 7,
    meaning: "Another run is compiling the same list.",
    hint: "Wait until it has finished; the lock of a killed run expires by itself",
  },
  "record-missing": {
    exit: 2,
    meaning: "The last build of the list has no record.",
    hint: "Compile the list once with this version; the record is stored in .rules-compiler next to it",
  },
  "newer-state": {
    exit: 2,
    meaning: "A file that earlier runs left was written by a newer version of this program.",
    hint: "Use that version, or move the file away to begin without it",
  },
  "record-outdated": {
    exit: 2,
    meaning: "The list has changed since its last recorded build.",
    hint: "Compile it again",
  },
  "format-loss": {
    exit: 5,
    meaning: "A format cannot express all rules of the list, and its `on_loss` is `fail`.",
    hint: "Remove these rules, choose another format, or set on_loss to skip or widen",
  },
  "empty-output": {
    exit: 5,
    meaning:
      "A file of `outputs` would block nothing because its format cannot express the rules of the list. Nothing is published.",
    hint: "Add Compress to the transformations, set on_loss to widen, choose another format, or publish once with --accept empty-output",
  },
  "limit-too-small": {
    exit: 5,
    meaning:
      "The exceptions of a file do not fit within its `fit` or `split`, or the list needs more files than `split` allows. Exceptions cannot be skipped or separated from the rules they belong to. Nothing is published.",
    hint: "Increase the limit, or choose a format that needs fewer lines",
  },
  "database-too-large": {
    exit: 5,
    meaning:
      "The names of a constant database need more than 4 GiB, its largest size: about 90 million names. Nothing is published.",
    hint: "Limit it with `fit.max_rules`, or divide the sources into lists with a database each",
  },
  "too-many-files": {
    exit: 5,
    meaning: "An output would be split into more than 1,000 files. Nothing is published.",
    hint: "Increase max_rules or max_bytes of `split`",
  },
  "build-missing": {
    exit: 2,
    meaning: "The build does not exist or is no longer stored.",
    hint: "@0 is the last build, @1 the one before; @2026-11-15 the last one of that day",
  },
  "list-held": {
    exit: 5,
    meaning:
      "`hold` keeps the list at a build. `compile` and `serve` publish nothing and report no error; `apply` refuses.",
    hint: "End the hold with rules-compiler hold --end",
  },
  "log-failed": {
    meaning: "What happened to the list could not be written into its log.",
    hint: "Check the permissions and the space of the folder .rules-compiler beside the list",
  },
  "scratch-failed": {
    exit: 6,
    meaning: "Writing to the temporary folder failed.",
    hint: "Free some space, choose another folder with TMPDIR, or raise --memory",
  },
  "little-scratch-room": {
    meaning: "The temporary folder probably has too little free space for this run.",
    hint: "Free some space, choose another folder with TMPDIR, or raise --memory",
  },
  interrupted: {
    exit: 130,
    meaning:
      "A signal stopped the run. Nothing was written, unless the message says that files were being replaced.",
    hint: "Run it again",
  },
} as const;

/** Every diagnostic the program can give. Each has a section of the same name in docs/reference/errors.md. */
export const CODES: typeof COMPILE_CODES &
  typeof SOURCE_CODES &
  typeof GUARD_CODES &
  typeof PUBLISH_CODES &
  typeof RESOLVER_CODES &
  typeof SERVER_CODES &
  typeof HOOK_CODES = {
  ...COMPILE_CODES,
  ...SOURCE_CODES,
  ...GUARD_CODES,
  ...PUBLISH_CODES,
  ...RESOLVER_CODES,
  ...SERVER_CODES,
  ...HOOK_CODES,
};

export type Code = keyof typeof CODES;

/** The return type also proves that each entry is well formed. */
export function codeEntry(code: Code): CodeEntry {
  return CODES[code];
}
