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
      "The text of a source is not the feed that its type, column or path describes, or it is not complete.",
    hint: "Check type, column, delimiter and path of the source against the first lines of the feed",
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
    over: "{} is read again",
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
    over: "{} is read again",
  },
  "mirror-only": {
    meaning:
      "For more than 3 days, a mirror has answered instead of the server of a source without a key. Nothing shows that the mirror has the same list.",
    hint: "Correct the URL of the source; if its server is gone for good, decide whether you trust the mirror",
    over: "{} is read again",
  },
  "source-dropped": {
    meaning:
      "A source or a file of names cannot be read and has no copy, or its copy has become too old. The list is made without it.",
    hint: "Correct its URL, or remove it from the configuration; with `required: true`, nothing is published without it",
    over: "{} is read again",
  },
  "list-incomplete": {
    meaning:
      "The first list lacks sources or files of names that cannot be read. It is written, the exit code is 3, and no hook runs.",
    hint: "Correct the URLs, or remove the entries from the configuration, and run again",
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
    over: "Servers of sources answer again",
  },
  "offline-copies": {
    meaning: "`--offline` is set, so that sources are their last good copies.",
    hint: "Run once without --offline",
  },
  "cache-unusable": {
    meaning: "The cache folder is not writable.",
    hint: "Choose another folder with --cache-dir, or use --no-cache",
    over: "The cache folder {} is writable again",
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
    hint: "Check the type of the source; rules-compiler stats --fate shows what became of its lines",
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
