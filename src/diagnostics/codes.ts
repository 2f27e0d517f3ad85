/** Diagnostics of guards, before a list is published. */
export const GUARD_CODES = {
  "blocks-protected": {
    exit: 5,
    meaning:
      "A rule of a fully trusted source would newly block a name that devices need, or one of `guards.protect`. The published list stays.",
    hint: "Keep the name reachable with `allow`, or accept it with `guards.may_block`",
  },
  "blocks-suffix": {
    exit: 5,
    meaning:
      "The new list has a rule for one of the largest public suffixes, such as com, or for nearly every name. The published list stays.",
    hint: "Remove the rule, or accept it with `guards.may_block_suffixes`",
  },
  "popular-kept": {
    meaning:
      "A source would newly block popular names. Its rules for them were dropped; broader rules got an exception (`guards.newly_blocks`).",
    hint: "To block them, add them to `guards.may_block`",
  },
  "unproved-build": {
    exit: 5,
    meaning:
      "The new list was rolled back three times within a day, because resolvers did not answer from it (`on_failure: rollback`). The published list stays until the rules change or the day is over.",
    hint: "Find out why the resolvers could not use it; then publish it with --accept unproved-build",
  },
  "protected-names": {
    meaning:
      "A source without full trust blocks names that devices need. Its rules for these names were dropped; broader rules got an exception.",
    hint: "No action is needed. To block them anyway, add them to `guards.may_block`",
  },
  "household-names": {
    meaning:
      "A source without full trust would block names that people need, such as a search engine, a mail service or a bank. Its rules for these names were dropped; broader rules got an exception.",
    hint: "If that is intended, add the names or their kind to `guards.may_block`; otherwise tell the maintainer of the list",
  },
  "licence-conflict": {
    meaning:
      "The licence of the list (`license`) grants what the licence in the header of a source forbids: commercial use, changed versions, or other terms for them. Only well-known licences are compared.",
    hint: "Change license, ask the author of the source, or remove the source",
  },
  "household-blocked": {
    meaning:
      "Sources block social media, messengers, games, streaming services, shops or the sites of one vendor. Some lists exist for that: a source may do so if it is new to the list, or if it did so in the published list.",
    hint: "To keep names reachable, add them to `allow`",
  },
  "protected-blocked": {
    meaning: "A rule of a fully trusted source blocks names that devices need.",
    hint: "Keep them reachable with `allow`, or accept it with `guards.may_block`",
  },
  "suffix-blocked": {
    meaning: "Rules of fully trusted sources block whole public suffixes.",
    hint: "If this is intended, add them to `guards.may_block_suffixes`",
  },
  "new-exceptions": {
    meaning:
      "New exceptions of a source without full trust would unblock more than 20 names, and more than 0.1 % of the names, that only other sources block. All of them were dropped.",
    hint: "If they are intended, publish once with --accept new-exceptions; they are kept from then on",
  },
  "names-freed": {
    exit: 4,
    meaning:
      "New entries of a remote file of `allow_sources`, `exclusions_sources` or `guards.protect` would free more than 20 names, and more than 0.1 % of the names, of the published list within 30 days. The file is held.",
    hint: "Check the file; if the change is intended, run once with --accept names-freed",
  },
  "may-block-unknown": {
    meaning: "An entry of `guards.may_block` is not a protected name.",
    hint: "Remove it, or check its spelling",
  },
  "too-few-rules": {
    exit: 5,
    meaning: "The new list has fewer rules than `guards.min_rules`. The published list stays.",
    hint: "The summary shows what the sources lost. Publish once with --accept too-few-rules, or change guards.min_rules",
  },
  "names-lost": {
    exit: 5,
    meaning:
      "The new list would lose more than 30 % of the published names, because sources cannot be read and have no copy. The published list stays.",
    hint: "Correct the URLs of these sources, or remove them from the configuration. To publish once without them, use --accept names-lost",
  },
  "breaks-traffic": {
    meaning:
      "A source without full trust would newly block more of the queries in a log than `guards.breaks_traffic` allows. Its lines that do so were dropped.",
    hint: "Check the new lines of the source; if they are intended, publish once with --accept breaks-traffic",
  },
  "traffic-blocked": {
    meaning:
      "The list newly blocks more of the queries in a log than `guards.breaks_traffic` allows: by lines of fully trusted or new sources, by lines of several sources together, or because an exception went. The list is published.",
    hint: "plan --traffic FILE --verbose shows the names before a publish. Keep them reachable with `allow`",
  },
  "traffic-unchecked": {
    meaning:
      "The logs of `guards.breaks_traffic` cannot be read or have no queries, so the guard did not check the list. The list is published.",
    hint: "Check guards.breaks_traffic.logs, and that the resolver writes its queries there",
  },
  "source-grown": {
    exit: 4,
    meaning:
      "A remote source gained more than twice the names of its published text, or more than three times within 7 or 30 days. It is held.",
    hint: "Check the source; if the change is intended, run once with --accept source-grown",
  },
} as const;

/** Diagnostics of hooks. */
const HOOK_CODES = {
  "hooks-skipped": {
    meaning:
      "The configuration has hooks, which run only with `--permit hooks`; or `apply` cannot read it.",
    hint: "Read them, then add --permit hooks to run them",
  },
  "hook-ran": {
    meaning: "A hook ran after a build. If it was a program, the end of its output is shown.",
    hint: "No action is needed",
  },
  "hook-failed": {
    meaning:
      "A hook failed or took too long. What was published stays, and the exit code of the build is not affected.",
    hint: "Fix the cause; the next run with --permit hooks tries it again",
    lasts: "hook",
  },
} as const;

/** Diagnostics of publishing: releases, plans and rollbacks. */
const PUBLISH_CODES = {
  "publish-unfinished": {
    meaning:
      "A run ended while it published a list, so some files may be of the new build and others of the old one. The next run that publishes completes or undoes it before anything else.",
    hint: "Run compile again",
  },
  "not-combined": {
    meaning:
      "A file of `combined` is not written, because one of its lists is not published. The lists themselves are.",
    hint: "Fix the list, or name the other lists in `lists` of the entry",
  },
  "manifest-mismatch": {
    exit: 5,
    meaning:
      "A release does not match its manifest, has expired, is not signed with the key, belongs to another list, or is older than the last good one.",
    hint: "Download it again; if the problem persists, do not use it",
  },
  "bad-key": {
    exit: 2,
    meaning: "A key for signing or verifying cannot be read, or is invalid.",
    hint: "Create a key pair with minisign -G -W; the secret key goes into manifest.key_file, the public key to --key",
  },
  "plan-unreadable": {
    exit: 2,
    meaning: "The file given to `apply` is not a plan, or another version saved it.",
    hint: "Create one with plan --save, and apply it with the same version",
  },
  "plan-outdated": {
    exit: 5,
    meaning:
      "The published list has changed since the plan was saved, is already the list of the plan, or has a file that would not be the planned one.",
    hint: "Run plan again and review the changes",
  },
  "not-rolled-back": {
    meaning:
      "The configuration has an output that it did not have when the build was made. `rollback` leaves its file as it is.",
    hint: "Run compile when the sources are good again",
  },
} as const;

/** Diagnostics of proofs: of `prove`, and after a build with `--permit hooks`. */
const RESOLVER_CODES = {
  "no-resolvers": {
    exit: 2,
    meaning: "The configuration, or the lists that `--filter` selects, have no `resolvers`.",
    hint: "Add resolvers: [192.0.2.53] to the configuration, with the address of your resolver",
  },
  "not-published": {
    exit: 2,
    meaning: "`prove` needs a published list, but its file does not exist.",
    hint: "Compile the list first; use the same -o and RULES_DIR",
  },
  "resolver-stale": {
    exit: 12,
    meaning: "A resolver still answers from an earlier build of the list.",
    hint: "Reload the resolver, and check that it reads the file that was published",
  },
  "resolver-unfiltered": {
    exit: 12,
    meaning: "A resolver does not block the names of the list.",
    hint: "Check in its log whether it loaded the list, and that its configuration uses it",
  },
  "resolver-wrong": {
    exit: 12,
    meaning:
      "A resolver blocks some names of your own files and not others, blocks names of `allow`, or answers from another list.",
    hint: "Check that it reads the right file and loaded it completely, which other lists it uses, and that a secondary is not ahead of its primary (compare the serials)",
  },
  "resolver-unreachable": {
    exit: 12,
    meaning: "A resolver does not answer, or answers every question with an error.",
    hint: "Check that it runs, its address and port, the firewall, and whether it permits this client",
  },
  "proof-rollback": {
    meaning:
      "More than half of the resolvers that answered from the list before did not answer from the new one, so the one before was published again (`on_failure: rollback`).",
    hint: "Find out why the resolvers could not use the new list; the next runs try it again, at most three times a day",
  },
  "proof-put-back": {
    meaning:
      "After a rollback, the resolvers did not answer from the old list either, so the new one was published again: it is not the cause.",
    hint: "Check why the resolvers do not load the published file",
  },
  "no-proved-build": {
    exit: 12,
    meaning:
      "A resolver does not answer from the new list, and the last proved build cannot be published again, because it is no longer stored.",
    hint: "Check the resolver, or publish another build: rules-compiler log lists them",
  },
} as const;

/** Diagnostics of `serve` and of the DNS API. */
const SERVER_CODES = {
  "bad-schedule": {
    exit: 2,
    meaning: "The schedule or time zone of `serve` is invalid, or the schedule never fires.",
    hint: "Five fields: minute, hour, day, month, weekday, such as 0 */6 * * *; a zone such as Europe/Berlin",
  },
  "listen-failed": {
    exit: 6,
    meaning: "The address or port is in use or not available.",
    hint: "Stop the other program, or choose another with --port and --listen",
  },
  "bad-token-file": {
    exit: 2,
    meaning:
      "The token file of `serve` cannot be read, can be read by other users, or contains no token.",
    hint: "Write a random token into a file of your own: (umask 077; openssl rand -hex 32 > token)",
  },
  "run-timeout": {
    meaning:
      "A run of `serve` exceeded `--run-timeout` and was stopped. The last good list is still served, and the schedule continues.",
    hint: "Check the log of the run, compile manually with --debug to find what takes so long, or raise --run-timeout",
  },
  "health-failed": {
    exit: 11,
    meaning: "The server is unhealthy or does not respond.",
    hint: "Check the reason, the status page and the log of the server",
  },
  "api-key-missing": {
    exit: 2,
    meaning: "The key for the DNS API is missing, invalid or set twice.",
    hint: "Write the key to a file and set DNSAPI_DnsApi__ApiKey_FILE to its path; DNSAPI_DnsApi__ApiKey and DNSAPI_API_KEY work too",
  },
  "api-address": {
    exit: 2,
    meaning: "The URL of the DNS API is missing, or the key must not be sent to it.",
    hint: "Set DNS_API_URL to an https URL; http is permitted only for this machine",
  },
  "api-unreachable": {
    exit: 8,
    meaning: "The DNS API did not respond, or its response is invalid.",
    hint: "Check the key, the URL, the network and the proxy settings",
  },
  "api-key-refused": {
    exit: 8,
    meaning: "The DNS API rejected the key.",
    hint: "Generate a new key in the provider's dashboard and replace the old one",
  },
  "api-busy": {
    exit: 8,
    meaning: "The DNS API keeps responding with 429, or asks for a delay of more than one minute.",
    hint: "Wait before you retry",
  },
  "list-does-not-fit": {
    exit: 5,
    meaning: "The list has more rules than the account has available.",
    hint: "Remove sources, compress the list, or ask the provider for a higher limit",
  },
} as const;

/** Diagnostics of sources: files, downloads and what they hold. */
export const SOURCE_CODES = {
  "homepage-not-url": {
    meaning: "The home page of a list is not a URL, so that readers of its header cannot open it.",
    hint: "Write a URL such as https://example.org/list",
  },
  "found-beside-working-directory": {
    meaning: "A relative path was found in the working directory, not next to the configuration.",
    hint: "Write the path relative to the configuration file",
  },
  "source-not-found": {
    exit: 4,
    meaning: "A local source, an included file or a file of exclusions does not exist.",
    hint: "Relative paths are looked up next to the configuration file, then in the working directory",
  },
  "source-unreadable": {
    exit: 4,
    meaning: "A local source cannot be read.",
    hint: "A source must be a regular file that this user may read",
  },
  "fetch-failed": {
    exit: 4,
    meaning: "A remote source could not be downloaded completely.",
    hint: "Check the URL, the network and the proxy settings",
  },
  "fetch-timeout": {
    exit: 4,
    meaning: "A remote source did not respond in time.",
    hint: "Check the network and the proxy settings; the server may be down",
  },
  "source-not-signed": {
    exit: 4,
    meaning:
      "A source with a key has no signature beside it (`<URL>.minisig`), or none of its bytes by that key. Its last good copy is used, if there is one.",
    hint: "Ask the maintainer of the list; if it has a new key, set key to that one, as they publish it elsewhere",
  },
  "bad-feed": {
    exit: 4,
    meaning:
      "The text of a source is not the feed that its type, column or pointer describes, or it is not complete.",
    hint: "Check type, column, delimiter and pointer of the source against the first lines of the feed",
  },
  "bad-key-file": {
    exit: 4,
    meaning: "A file with keys of a source cannot be read, or does not have the expected form.",
    hint: "headers_file has lines such as X-Key: value; bearer_file has a token, basic_file user:password",
  },
  "key-file-open": {
    meaning: "Other users of the machine may read a file with keys of a source.",
    hint: "Run chmod 600 on the file",
  },
  "private-address": {
    exit: 4,
    meaning: "A remote source, or a redirect of it, resolves to this machine or a private network.",
    hint: "If this is intended, write { source: …, allow_private: true } for this source or file",
  },
  "source-shrunk": {
    exit: 4,
    meaning:
      "A remote source lost more than half of the names of its published text, or more than 60 % within 7 or 30 days. It is held.",
    hint: "Check the source; if the change is intended, run once with --accept source-shrunk",
  },
  "source-truncated": {
    exit: 4,
    meaning:
      "A remote source has less than 90 % of the entries that its own header names. Its last good copy is used, if there is one.",
    hint: "Try again later; if the header of the list is wrong, set check_count: false on the source",
  },
  "source-replaced": {
    exit: 4,
    meaning:
      "A remote source shares less than 30 % of its names with its published text. It is held.",
    hint: "Check the source; if the change is intended, run once with --accept source-replaced",
  },
  "source-held": {
    meaning:
      "A source differs too much from its published text, which is used until the source is within its limits again, you accept it, it has offered about the same for 3 days, or 7 days are over.",
    hint: "Check the cause; to accept the source as it is now, use --accept with the code",
    lasts: "source",
  },
  "sources-state-lost": {
    meaning:
      "`.rules-compiler/sources.json`, which remembers what was published of each source, is missing or damaged. What is published beside each list (`my-list.sources.json`) is the baseline; a source that it does not name is new.",
    hint: "Keep .rules-compiler from run to run, so that sources are compared with the last 30 days",
  },
  "source-not-blocklist": {
    exit: 4,
    meaning:
      "A source has rules for more than ten of the built-in protected names. Blocklists have at most seven; allowlists used by mistake have 28 or more.",
    hint: "If it is an allowlist, move it to allow_sources; if the names are intended, add them to guards.may_block",
  },
  "copy-too-old": {
    exit: 4,
    meaning: "A source cannot be read, and its last good copy is older than max_stale.",
    hint: "Correct its URL, remove it, or allow older copies with max_stale",
  },
  "source-stale": {
    meaning:
      "A source or a file of names cannot be read; its last good copy is used until the day that the message names.",
    hint: "Check the cause; if it is gone for good, remove it from the configuration",
    lasts: "source",
  },
  "mirror-only": {
    meaning:
      "For more than 3 days, a mirror has answered instead of the server of a source without a key. Nothing shows that the mirror has the same list.",
    hint: "Correct the URL of the source; if its server is gone for good, decide whether you trust the mirror",
    lasts: "source",
  },
  "source-dropped": {
    meaning:
      "A source or a file of names cannot be read and has no copy, or its copy has become too old. The list is made without it.",
    hint: "Correct its URL, or remove it from the configuration; with `required: true`, nothing is published without it",
    lasts: "source",
  },
  "list-incomplete": {
    meaning:
      "The first list lacks sources or files of names that cannot be read. It is written, the exit code is 3, and no hook runs.",
    hint: "Correct that, and run again",
  },
  "sources-missing": {
    exit: 4,
    meaning:
      "Too many sources cannot be read and have no copy: all of them, or for a first list, more than half of them.",
    hint: "Correct the URLs of these sources, or remove them from the configuration, and run again",
  },
  "no-answer": {
    exit: 4,
    meaning:
      "No server of any source answered. Each source is its last good copy, or is missing; they are not reported one by one.",
    hint: "Check the network, the DNS and the proxy settings of this machine",
    lasts: "servers",
  },
  "offline-copies": {
    exit: 4,
    meaning:
      "`--offline` is set, so that sources are their last good copies. A source without one cannot be read.",
    hint: "Run once without --offline",
  },
  "cache-unusable": {
    meaning: "The cache folder is not writable.",
    hint: "Choose another folder with --cache-dir, or use --no-cache",
    lasts: "cache",
  },
  "source-not-text": {
    exit: 4,
    meaning: "The download is binary data or cannot be decoded.",
    hint: "Lists are UTF-8 text; UTF-16 needs a byte order mark, and gzip is decompressed",
  },
  "source-is-html": {
    exit: 4,
    meaning: "The download is a web page: often a login page, an error page or a moved list.",
    hint: "Open the URL in a browser; use the URL of the raw file",
  },
  "bad-directive": {
    exit: 4,
    meaning: "An !#if, !#else, !#endif or !#include directive is invalid.",
    hint: "Report it to the maintainer of the list; the source cannot be read as intended",
  },
  "too-large": {
    exit: 4,
    meaning:
      "The sources have more lines or included files than one build supports, or one domain has too many names.",
    hint: "Split the sources into several lists; --memory sets the memory limit",
  },
  "source-empty": {
    exit: 4,
    meaning: "A source or a file of exclusions is empty. For a remote source, this is an error.",
    hint: "Check that the list is still published there",
  },
  "bad-encoding": {
    meaning: "Invalid UTF-8 was replaced by U+FFFD.",
    hint: "Save the list as UTF-8",
  },
  "list-note": {
    meaning: "A remark about lines of a source, with their number.",
    hint: "See docs/reference/transformations.md",
  },
  "own-lines": {
    meaning:
      "Lines of a local file are not in the list, because they are not rules that a resolver can use. The message says what to write instead.",
    hint: "Correct the lines, or remove them",
  },
  "browser-list": {
    meaning:
      "Most lines of a source are for browsers: they hide parts of pages, or block single files. A resolver sees only names.",
    hint: "Use the DNS version of this list, if there is one, or remove it",
  },
  "source-without-rules": {
    meaning: "A source has lines, but no line is a rule.",
    hint: "Check the type of the source (-t, or type in the configuration); rules-compiler stats --fate shows what became of its lines",
  },
  "source-not-list": {
    exit: 4,
    meaning:
      "A server sent JSON, XML or a message such as `404: Not Found` with status 200, not a list.",
    hint: "Open the URL in a browser; a list in JSON needs `type: json`",
  },
  "cut-line": {
    meaning:
      "A response without Content-Length ended within a line. The line may be truncated and was skipped.",
    hint: "Report it to the maintainer of the list: it should end with a line feed, or its server should send Content-Length",
  },
  "download-too-large": {
    exit: 4,
    meaning:
      "All downloads together would use more than a quarter of the free space in the temporary folder; the largest was stopped. If that folder is in memory, the memory limit of the process counts as well.",
    hint: "Remove the source, free some space, or choose another folder with TMPDIR",
  },
  "ledger-damaged": {
    meaning:
      "The file in the cache that says when the rules of a source with `remember` were seen is damaged. Rules that the source no longer has are gone.",
    hint: "Check the disk; the source keeps rules again from now on",
  },
  "keep-limited": {
    meaning:
      "A source with `remember` would have more than `max_bytes` together with the rules that it had before, or would add more to them in a day than `guards.max_growth` permits. Those that it has not had for the longest time are forgotten; what it has now stays.",
    hint: "Shorten remember, or raise max_bytes of the source",
  },
  "keep-needs-cache": {
    meaning: "A source has `remember`, but there is no cache that could contain what was seen.",
    hint: "Remove --no-cache, or name a folder with --cache-dir",
  },
} as const;

interface CodeEntry {
  /** The exit code that an error of this kind ends in; absent for warnings. */
  readonly exit?: Exit;
  /** When it is given. */
  readonly meaning: string;
  /** What to do about it. */
  readonly hint: string;
  /** What has the problem until it is found to have ended, which is reported. Nothing is reported without it. */
  readonly lasts?: LastingSubject;
}

export type LastingSubject = "source" | "servers" | "hook" | "cache";

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
  "wrong-usage": {
    exit: 2,
    meaning:
      "The command line has an unknown option or command, an invalid value, or too few or too many arguments.",
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
  "other-place": {
    meaning:
      "Neither RULES_DIR nor -o is set, and the list was last published in another folder, where it still is. The rules directory is `./rules` of the working directory.",
    hint: "Set RULES_DIR to the folder of the list, or run it in the same folder as before",
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
  "bad-decision": {
    exit: 2,
    meaning: "A line of `decisions.txt` is not a decision.",
    hint: "Write: allow NAME or block NAME, then exact, since DATE, until DATE, in LIST, ref REFERENCE, # REASON as needed",
  },
  "published-text-lost": {
    exit: 0,
    meaning:
      "`allow` and `block` build from the texts of the last publish, and one of them is not in the cache. The decision is written.",
    hint: "The next compile applies the decision",
  },
  "decision-expired": {
    meaning: "A decision is over and no longer has an effect.",
    hint: "Decide again with rules-compiler allow or block, or remove the line",
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
  "runtime-too-old": {
    exit: 2,
    meaning: "The program needs a newer version of Node.",
    hint: "Install a newer version: https://nodejs.org/en/download",
  },
  "lock-missing": {
    exit: 2,
    meaning: "rules.lock is missing, or has no entry for this configuration.",
    hint: "Create it: rules-compiler compile --update. Commit it with the configuration",
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
    hint: "Compile the list first: rules-compiler compile. The record is in .rules-compiler next to the list",
  },
  "bad-observations": {
    exit: 2,
    meaning:
      "`observations.txt`, which `alive` writes beside the configuration, or a file that it should import cannot be read or written.",
    hint: "Check the file and its permissions",
  },
  "no-observations": {
    meaning:
      "A source has `dead: drop`, but the names of the list were not asked about within 45 days, so that nothing is dropped.",
    hint: "Run rules-compiler alive every day, or remove dead: drop",
  },
  "resolver-refused": {
    exit: 12,
    meaning:
      "A resolver that `alive` asks filters, rewrites NXDOMAIN, does not pass on the proof of it, or does not answer. What it said since its last passed test does not count.",
    hint: "Ask a recursive resolver that loads no list, such as unbound on this machine",
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

/** Exit codes of the program, by what went wrong. Documented in docs/reference/command-line.md. */
export const Exit = {
  Done: 0,
  Bug: 1,
  Usage: 2,
  Degraded: 3,
  Sources: 4,
  Guard: 5,
  Output: 6,
  Locked: 7,
  Api: 8,
  /** Of `lint`: a list has lines that no resolver would get. */
  Problems: 9,
  /** Of `plan` and `diff` with `--exit-code`. No error has it, so that scripts can tell. */
  Changes: 10,
  /** Of `health` and `status`. */
  Unhealthy: 11,
  /** Of `prove`, and of a build with hooks. */
  Unproved: 12,
  Interrupted: 130,
  Terminated: 143,
} as const;
/** An exit code of the program. */
export type Exit = (typeof Exit)[keyof typeof Exit];

/** What each of them means, for help, the manual page and the reference. */
export const EXIT_MEANINGS: Readonly<Record<keyof typeof Exit, string>> = {
  Done: "Success. The list was written, or is up to date.",
  Bug: "A bug in rules-compiler. Please report it.",
  Usage:
    "The command line, the configuration or a file of exclusions is invalid. Nothing was written.",
  Degraded:
    "The first list was written, but lacks a source that cannot be read, and no hook ran. With `--strict`, also later: a source is left out or replaced by its last good copy.",
  Sources:
    "Too many sources cannot be read, or one with `required`; with `--compat`, any. Nothing was written.",
  Guard:
    "A guard refused the new list (`plan`: would refuse it), or it does not fit the account. The published list is unchanged.",
  Output: "The list could not be written. The published list is unchanged.",
  Locked: "Another run is compiling the same list. Nothing was written.",
  Api: "The DNS API did not respond, or rejected the key.",
  Problems: "`lint`: a list has errors; with `--strict`, errors or warnings.",
  Changes: "`plan` and `diff` with `--exit-code`: something changes.",
  Unhealthy: "`health`, `status`: the server is unhealthy or does not respond.",
  Unproved:
    "`prove`, and what publishes with `--permit hooks`: a resolver does not answer from the list, or a step after the publish failed.",
  Interrupted: "Stopped by SIGINT.",
  Terminated: "Stopped by SIGTERM.",
};

/** The codes of guards. `--accept` takes these names. */
export const GUARD_NAMES = [
  "blocks-protected",
  "blocks-suffix",
  "too-few-rules",
  "names-lost",
  "source-shrunk",
  "source-grown",
  "source-replaced",
  "new-exceptions",
  "names-freed",
  "not-covered",
  "empty-output",
  "unproved-build",
  "breaks-traffic",
] as const;

/** The name of a guard. */
export type GuardName = (typeof GUARD_NAMES)[number];
