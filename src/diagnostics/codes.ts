import type { Exit } from "./exit.ts";
import { DOWNLOAD_CODES } from "./download-codes.ts";
import { GUARD_CODES } from "./guard-codes.ts";
import { SERVER_CODES } from "./server-codes.ts";

export interface CodeEntry {
  /** The exit code that an error of this kind ends in; absent for warnings. */
  readonly exit?: Exit;
  /** When it is given. */
  readonly meaning: string;
  /** What to do about it. */
  readonly hint: string;
}

/** Of everything but downloads, guards and servers. */
const COMPILE_CODES = {
  "config-not-found": {
    exit: 2,
    meaning: "There is no file at the path of the configuration.",
    hint: "The path is resolved against the working directory; name another with -c or CONFIG_PATH, or write one with rules-compiler init",
  },
  "several-configurations": {
    meaning:
      "The working directory has several configurations of the default names, and none was named. The first of them is read.",
    hint: "Name one with -c or CONFIG_PATH",
  },
  "config-unreadable": {
    exit: 2,
    meaning: "The configuration file is there but cannot be read, or is too large to be one.",
    hint: "Check the permissions and that the path is a regular file of at most 1 MiB",
  },
  "config-extension": {
    exit: 2,
    meaning: "The extension of the configuration file names no known format.",
    hint: "Use .json, .jsonc, .yaml or .yml; the extension selects the format",
  },
  "config-syntax": {
    exit: 2,
    meaning: "The configuration is not well-formed in its format.",
    hint: "Comments need .jsonc; trailing commas, single quotes and unquoted keys are invalid in JSON",
  },
  "config-invalid": {
    exit: 2,
    meaning: "A field of the configuration has a value it cannot have.",
    hint: "See docs/reference/configuration.md",
  },
  "config-required": {
    exit: 2,
    meaning: "A field that must be there is missing.",
    hint: "See docs/reference/configuration.md",
  },
  "unknown-transformation": {
    exit: 2,
    meaning: "The name of a transformation is not one of the known ones.",
    hint: "Names are case-sensitive",
  },
  "several-validators": {
    exit: 2,
    meaning: "More than one of the Validate transformations would see the same list.",
    hint: "Use one of them, either at the top level or in the sources",
  },
  "bad-regex-entry": {
    exit: 2,
    meaning: "An exclusion or inclusion of the form /…/ is not a regular expression.",
    hint: "Mend the expression, or leave the slashes out to match plain text",
  },
  "unknown-key": {
    meaning: "The configuration has a field that nothing reads.",
    hint: "Remove it, or mend its spelling",
  },
  "source-incomplete": {
    meaning: "A source has no name or no type.",
    hint: "Without a name the source itself is the label; without a type it is read as adblock",
  },
  "found-beside-working-directory": {
    meaning: "A relative path was not found beside the configuration but in the working directory.",
    hint: "Write the path relative to the configuration file",
  },
  "unknown-flag": {
    exit: 2,
    meaning: "The command line has an option, a command or a value that is not known.",
    hint: "See rules-compiler --help",
  },
  "source-not-found": {
    exit: 4,
    meaning: "A local source, an included file or a file of exclusions is not there.",
    hint: "Relative paths are looked up beside the configuration file, then in the working directory",
  },
  "source-unreadable": {
    exit: 4,
    meaning: "A local source cannot be read.",
    hint: "A source must be a regular file that this user may read",
  },
  "fetch-failed": {
    exit: 4,
    meaning: "A remote source did not arrive whole.",
    hint: "Check the address, the network and the proxy settings",
  },
  "fetch-timeout": {
    exit: 4,
    meaning: "A remote source took too long.",
    hint: "Check the network and the proxy settings; the server may be down",
  },
  "private-address": {
    exit: 4,
    meaning:
      "A remote source is on this machine or in a private network, by its own address, by what its name resolves to, or after a redirect.",
    hint: "If it is meant to be there, set allow_private: true on the source; for files of names, at the top level",
  },
  "source-shrunk": {
    exit: 4,
    meaning:
      "A remote source has far fewer entries than its last good copy, or than at its best in the last 30 days. The copy stands in.",
    hint: "Look at the list; if it is meant to be that small, run once with --accept source-shrunk",
  },
  "source-replaced": {
    exit: 4,
    meaning:
      "A remote source has less than 30 % of its names in common with its last good copy. The copy stands in.",
    hint: "Look at the list; accept it once with --accept source-replaced, or set volatile: true on a source that changes daily",
  },
  "source-held": {
    meaning:
      "A source is too different from its last good copy to be taken at once. The copy stands in until the source recovers, somebody accepts it, or it has stayed the same for as long as `guards.hold` says.",
    hint: "Look at the cause; accept the source as it is now with --accept and the code",
  },
  "source-not-blocklist": {
    exit: 4,
    meaning:
      "A source has rules for more than ten of the built-in protected names. Block-lists have seven at most; allow-lists used by mistake have 28 and more.",
    hint: "If it is an allow-list, name it in allow_sources; if the names are meant, in guards.may_block",
  },
  "copy-too-old": {
    exit: 4,
    meaning: "A source failed, and its last good copy is older than max_stale.",
    hint: "Mend the source, remove it, or allow older copies with max_stale",
  },
  "source-stale": {
    meaning: "A source failed; its last good copy stands in for it.",
    hint: "Look at the cause; after max_stale the copy is no longer used",
  },
  "source-dropped": {
    meaning: "An optional source failed and is left out.",
    hint: "Look at the cause; the list has less in it than it should",
  },
  "cache-unusable": {
    meaning: "The folder for last good copies cannot be written to.",
    hint: "Name another folder with --cache-dir, or use --no-cache",
  },
  "source-not-text": {
    exit: 4,
    meaning: "What arrived is binary data or cannot be decoded.",
    hint: "Lists are UTF-8 text; UTF-16 needs a byte order mark, and gzip is unpacked",
  },
  "source-is-html": {
    exit: 4,
    meaning: "What arrived is a web page: often a login page, an error page or a moved list.",
    hint: "Open the address in a browser; use the address of the raw file",
  },
  "bad-directive": {
    exit: 4,
    meaning: "An !#if, !#else, !#endif or !#include line cannot be carried out.",
    hint: "Tell the list's maintainer; the source cannot be read as it was meant",
  },
  "too-large": {
    exit: 4,
    meaning:
      "The sources together have more lines, or more included files, than one compile can number, or one domain has more names than can be worked on at once.",
    hint: "Compile them in several lists; --memory sets how much is kept in memory",
  },
  "source-empty": {
    exit: 4,
    meaning:
      "A source, or a file of exclusions, holds no text at all. For a remote source that is a failure.",
    hint: "Check that the list is still published there",
  },
  "bad-encoding": {
    meaning: "Bytes that are not UTF-8 were replaced by U+FFFD.",
    hint: "Save the list as UTF-8",
  },
  "list-note": {
    meaning: "Something in a source's lines that a person should know; the lines are counted.",
    hint: "See docs/reference/transformations.md",
  },
  "not-covered": {
    exit: 5,
    meaning:
      "A list does not block everything that a list in its `covers` blocks. The old list stays.",
    hint: "Give it the sources that are missing, or publish once with --accept not-covered",
  },
  "cover-unknown": {
    meaning: "A list in `covers` was not compiled in this run and is not published either.",
    hint: "Compile both at once, without --filter",
  },
  "setup-unreadable": {
    exit: 2,
    meaning: "The settings that `audit` or `init --from` should read cannot be read.",
    hint: "Check the path and its permissions; gravity.db is Pi-hole's, in /etc/pihole",
  },
  "setup-unknown": {
    exit: 2,
    meaning: "A file holds no settings of software that is known, and no addresses of lists.",
    hint: "Known are AdGuardHome.yaml, gravity.db, blocky's YAML, HostlistCompiler's JSON, and one address a line",
  },
  "file-exists": {
    exit: 2,
    meaning: "`init` would write a file that is there already.",
    hint: "Name another file, or remove it",
  },
  "plugins-off": {
    exit: 2,
    meaning: "The configuration names modules of your own, which are not run unless you say so.",
    hint: "They can do anything that you can; if they are yours, add --plugins",
  },
  "plugin-bad": {
    exit: 2,
    meaning: "A module of your own cannot be loaded, or is not what a plugin should be.",
    hint: "See docs/guide/plugins.md",
  },
  "plugin-failed": {
    exit: 2,
    meaning: "A transformation of your own threw an error, or returned something that is no line.",
    hint: "Mend it; nothing was published",
  },
  "several-lists": {
    exit: 2,
    meaning: "The configuration makes several lists, and the command is for one.",
    hint: "Say which with --filter NAME",
  },
  "unknown-list": {
    exit: 2,
    meaning: "`--filter` names a list that the configuration does not make.",
    hint: "Name one of its lists; * stands for anything",
  },
  "same-file": {
    exit: 2,
    meaning: "Two lists of a configuration would be written to the same file.",
    hint: "Give them names, or outputs files, that differ in letters or digits",
  },
  "bad-allow-entry": {
    exit: 2,
    meaning: "An entry of `allow` is not a name in any known form.",
    hint: "Write a name, a hosts line, ||name^, @@||name^ or *.name",
  },
  "entries-ignored": {
    meaning:
      "A file of entries (`allow_sources`, `exclusions_sources`, `inclusions_sources`, `guards.protect`) has some that cannot be used, or that a file from an address may not say.",
    hint: "Remove them from the file, or keep a local copy of the file if you mean them",
  },
  "allow-unused": {
    meaning: "Entries of the allow-list met no rule.",
    hint: "Remove them, or check their spelling",
  },
  "output-failed": {
    exit: 6,
    meaning: "The compiled list could not be written. What was there before is untouched.",
    hint: "Check that the folder exists, has room and may be written to",
  },
  "environment-ignored": {
    meaning: "An environment variable has a value that means nothing. Its default is used.",
    hint: "Correct the value, or unset the variable",
  },
  "environment-invalid": {
    exit: 2,
    meaning: "An environment variable has a value that cannot be used.",
    hint: "Correct the variable, or unset it",
  },
  "lock-missing": {
    exit: 2,
    meaning: "rules.lock is missing, or has no entry for this configuration.",
    hint: "Make one with --update, and keep it with the configuration",
  },
  "lock-unreadable": {
    exit: 2,
    meaning: "rules.lock exists but is not a valid lockfile.",
    hint: "Take it from where the configuration is kept, or make a new one with --update",
  },
  "lock-version": {
    exit: 2,
    meaning:
      "rules.lock was written by another version, which may build another list from the same sources.",
    hint: "Use that version, or lock anew with --update",
  },
  "lock-mismatch": {
    exit: 4,
    meaning: "A source is not what rules.lock says, and there is no copy of what it was.",
    hint: "Lock it anew with --update",
  },
  locked: {
    exit: 7,
    meaning: "Another run is making the same list.",
    hint: "Wait for it to end; the lock of a run that was killed is taken over by the next",
  },
  "record-missing": {
    exit: 2,
    meaning: "There is no record of the last build of the list to answer from.",
    hint: "Compile the list once with this version; the record is kept in .rules-compiler beside it",
  },
  "record-outdated": {
    exit: 2,
    meaning: "The list was changed since its last build was recorded.",
    hint: "Compile it again",
  },
  "format-loss": {
    exit: 5,
    meaning: "A format cannot say all rules of the list, and `on_loss` is `fail` for it.",
    hint: "Leave such rules out of the list, choose another format, or set on_loss to skip or widen",
  },
  "empty-output": {
    exit: 5,
    meaning:
      "A file of `outputs` would block nothing, though the list does: the format cannot say its rules. Nothing is published.",
    hint: "Add Compress to the transformations, set on_loss to widen, choose another format, or publish once with --accept empty-output",
  },
  "limit-too-small": {
    exit: 5,
    meaning:
      "The exceptions of a file, which must not be left out or torn from the blocks around them, need more than its `fit` or `split` allows. Nothing is published.",
    hint: "Set a larger limit, or choose a format that needs fewer lines",
  },
  "manifest-mismatch": {
    exit: 5,
    meaning:
      "A release is not what its manifest says, has expired, is not signed by the key, is of another list, or is older than the last good one.",
    hint: "Fetch it again; if it stays so, do not use it",
  },
  "bad-key": {
    exit: 2,
    meaning: "A key to sign or to verify with cannot be read, or is none.",
    hint: "Make a pair with minisign -G -W; the secret one goes into manifest.key_file, the public one to --key",
  },
  "plan-unreadable": {
    exit: 2,
    meaning: "The file that `apply` was given is no plan, or another version saved it.",
    hint: "Make one with plan --save, and apply it with the same version",
  },
  "plan-outdated": {
    exit: 5,
    meaning: "The published list is not the one that the plan was compared with.",
    hint: "Plan again, and look at what changes now",
  },
  "build-missing": {
    exit: 2,
    meaning: "There is no such build among those that are kept.",
    hint: "@0 is the last build, @1 the one before; @2026-11-15 the last one of that day",
  },
  "scratch-failed": {
    exit: 6,
    meaning: "What did not fit into memory could not be put into the temporary folder.",
    hint: "Make room there, name another folder with TMPDIR, or allow more with --memory",
  },
  "little-scratch-room": {
    meaning: "Less is free in the temporary folder than the run is likely to put there.",
    hint: "Make room there, name another folder with TMPDIR, or allow more with --memory",
  },
  interrupted: {
    exit: 130,
    meaning:
      "The run was stopped by a signal. Nothing was written, unless the message says that files were being replaced.",
    hint: "Run it again",
  },
} as const;

/** Every diagnostic the program can give. Each has a section of the same name in docs/reference/errors.md. */
export const CODES: typeof COMPILE_CODES &
  typeof DOWNLOAD_CODES &
  typeof GUARD_CODES &
  typeof SERVER_CODES = {
  ...COMPILE_CODES,
  ...DOWNLOAD_CODES,
  ...GUARD_CODES,
  ...SERVER_CODES,
};

export type Code = keyof typeof CODES;

/** The return type also proves that each entry is well formed. */
export function codeEntry(code: Code): CodeEntry {
  return CODES[code];
}
