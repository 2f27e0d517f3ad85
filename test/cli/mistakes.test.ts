import assert from "node:assert/strict";
import { test } from "node:test";
import { HostError } from "../support/internals.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { webOf } from "../support/web-of.ts";

const CONFIG = "compiler-config.yaml";
const OWN = "||ads.example^\n||track.example^\n";
const GOOD = "name: Home\nsources:\n  - source: own.txt\n";
const URL_A = "https://lists.example/a.txt";
const PRIVATE = "http://192.168.1.5/a.txt";
const WEB = { [URL_A]: OWN, [PRIVATE]: OWN, "https://lists.example/page": "<!DOCTYPE html><html>" };

function configWith(source: string, more = ""): string {
  return `name: Home\nsources:\n  - source: ${source}\n${more}`;
}

/** A mistake, what it ends with, and how the remedy is applied. */
interface Mistake {
  /** Arguments, separated by blanks. */
  readonly words?: string;
  readonly config?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of a run that comes first. */
  readonly before?: string;
  readonly code: string;
  readonly exit: number;
  readonly says: RegExp;
  /** Its groups, or the whole match, are what is pasted. */
  readonly hint: RegExp;
  /** The arguments, the configuration or the environment with the pasted text; the same run must then succeed. */
  readonly words2?: (pasted: string) => string;
  readonly config2?: (pasted: string) => string;
  readonly env2?: (pasted: string) => Record<string, string>;
  /** A command that must be run before, as the hint says. */
  readonly first?: (pasted: string) => string;
}

const flag = { code: "wrong-usage", exit: 2 } as const;
const bad = { code: "config-invalid", exit: 2 } as const;
const source = { exit: 4 } as const;

const MISTAKES: Readonly<Record<string, Mistake>> = {
  // The command line.
  "a misspelt option": {
    words: "--ouput=x.txt",
    ...flag,
    says: /--ouput/,
    hint: /Did you mean (--output)\?/,
    words2: (it) => `${it}=x.txt`,
  },
  "a misspelt command": {
    words: "complie",
    ...flag,
    says: /complie/,
    hint: /Did you mean "(compile)"\?/,
    words2: (it) => it,
  },
  "the word of another program": {
    words: "unblock ads.example",
    before: "compile",
    ...flag,
    says: /unblock/,
    hint: /Did you mean "(allow)"\?/,
    words2: (it) => `${it} ads.example`,
  },
  "a command for what the configuration has": {
    words: "add https://lists.example/a.txt",
    ...flag,
    says: /add/,
    hint: /Edit sources in the configuration, then: rules-compiler (plan)/,
    words2: (it) => it,
  },
  "a decision about all names below one": {
    words: "block *.ads.example",
    before: "compile",
    code: "bad-decision",
    exit: 2,
    says: /not a name/,
    hint: /rules-compiler (block ads\.example)$/,
    words2: (it) => it,
  },
  "a pattern instead of a name": {
    words: "block /ads[0-9]/",
    before: "compile",
    code: "bad-decision",
    exit: 2,
    says: /not a name/,
    hint: /^Decide about a name: rules-compiler (block shop\.example\.com); a rule for anything else belongs to a list of your own$/,
    words2: (it) => it,
  },
  "an address for init without http://": {
    words: "init 192.168.1.5/a.txt new.yaml",
    ...flag,
    says: /one file/,
    hint: /write (http:\/\/192\.168\.1\.5\/a\.txt)$/,
    words2: (it) => `init ${it} new.yaml`,
  },
  "a misspelt command of help": {
    words: "help paln",
    ...flag,
    says: /paln/,
    hint: /"(plan)"/,
    words2: (it) => `help ${it}`,
  },
  "version as a command": {
    words: "version",
    ...flag,
    says: /version/,
    hint: /(--version)/,
    words2: (it) => it,
  },
  "a size without a number": {
    words: "--memory lots",
    ...flag,
    says: /lots/,
    hint: /--memory 256M/,
    words2: (it) => it,
  },
  "a colour that is no choice": {
    words: "--color no",
    ...flag,
    says: /not no/,
    hint: /--color never/,
    words2: (it) => it,
  },
  "a permit in the singular": {
    words: "--permit hook",
    ...flag,
    says: /not hook/,
    hint: /--permit hooks/,
    words2: (it) => it,
  },
  "a misspelt guard": {
    words: "--accept source-shrink",
    ...flag,
    says: /source-shrink/,
    hint: /--accept source-shrunk/,
    words2: (it) => it,
  },
  "a misspelt form of lint": {
    words: "lint own.txt --format sarf",
    ...flag,
    says: /--format/,
    hint: /Did you mean (sarif)\?/,
    words2: (it) => `lint own.txt --format ${it}`,
  },
  "a misspelt fate": {
    before: "compile",
    words: "stats --fate bad-synatx",
    ...flag,
    says: /bad-synatx/,
    hint: /"(bad-syntax)"/,
    words2: (it) => `stats --fate ${it}`,
  },
  "an option of another command": {
    words: "--exit-code",
    ...flag,
    says: /compile does not take --exit-code/,
    hint: /option of (plan)/,
    words2: (it) => it,
  },
  "why without a name": {
    before: "compile",
    words: "why",
    ...flag,
    says: /needs a name/,
    hint: /(why ads\.example\.com)/,
    words2: (it) => it,
  },
  "diff with one list": {
    files: { "old.txt": OWN, "new.txt": OWN },
    words: "diff old.txt",
    ...flag,
    says: /needs two/,
    hint: /diff old\.txt new\.txt/,
    words2: (it) => it,
  },
  "lint without a file": {
    files: { "my-rules.txt": OWN },
    words: "lint",
    ...flag,
    says: /needs a file/,
    hint: /lint my-rules\.txt/,
    words2: (it) => it,
  },
  "apply without a plan": {
    words: "apply",
    ...flag,
    says: /needs a plan/,
    hint: /(plan --save my\.plan).*apply my\.plan/,
    first: (it) => it,
    words2: () => "apply my.plan",
  },
  "a shell without completions": {
    words: "completions powershell",
    ...flag,
    says: /bash, zsh, fish/,
    hint: /rules-compiler (completions bash)$/,
    words2: (it) => it,
  },
  "a configuration that is misspelt": {
    words: "-c complier-config.yaml",
    code: "config-not-found",
    exit: 2,
    says: /complier-config/,
    hint: /-c compiler-config\.yaml/,
    words2: (it) => it,
  },
  "a URL as the configuration": {
    words: `-c ${URL_A}`,
    code: "config-not-found",
    exit: 2,
    says: /Configuration file not found: https:/,
    hint: /rules-compiler (\S+ -o) FILE$/,
    words2: (it) => `${it} list.txt`,
  },
  "a host as a source": {
    config: configWith("lists.example.org"),
    code: "source-not-found",
    ...source,
    says: /File not found: lists\.example\.org/,
    hint: /write https:\/\/lists\.example\.org$/,
    config2: () => GOOD,
  },
  "why of a text that is no name": {
    before: "compile",
    words: "why 1.2.3.4",
    ...flag,
    says: /1\.2\.3\.4 is not a name/,
    hint: /(why ads\.example\.com);/,
    words2: (it) => it,
  },
  "the file of init behind -o": {
    words: "init https://lists.example/a.txt -o z.yaml",
    ...flag,
    says: /init does not take --output/,
    hint: /rules-compiler init (z\.yaml)$/,
    words2: (it) => `init https://lists.example/a.txt ${it}`,
  },
  "init over a configuration": {
    words: "init https://lists.example/a.txt",
    code: "file-exists",
    exit: 2,
    says: /compiler-config\.yaml already exists/,
    hint: /rules-compiler init (home\.yaml)$/,
    words2: (it) => `init https://lists.example/a.txt ${it}`,
  },
  "the file of export behind -o": {
    before: "compile",
    words: "export -o lines.csv",
    ...flag,
    says: /-o is the list that export reads, not lines\.csv/,
    hint: /rules-compiler (export lines\.csv)$/,
    words2: (it) => it,
  },
  "why before the first compile": {
    words: "why ads.example",
    code: "record-missing",
    exit: 2,
    says: /No record/,
    hint: /rules-compiler (compile)/,
    first: (it) => it,
  },
  "frozen without a lockfile": {
    config: configWith(URL_A),
    words: "--frozen",
    code: "lock-missing",
    exit: 2,
    says: /rules\.lock/,
    hint: /rules-compiler (compile --update)/,
    first: (it) => it,
  },
  "a list that does not exist": {
    words: "--filter Kids",
    code: "unknown-list",
    exit: 2,
    says: /Kids/,
    hint: /Lists: (Home)/,
    words2: (it) => `--filter ${it}`,
  },
  "an output that is a source": {
    words: "-o own.txt",
    code: "overwrites-input",
    exit: 2,
    says: /own\.txt/,
    hint: /Name another file, such as (\S+)$/,
    words2: (it) => `-o ${it}`,
  },
  "a misspelt list": {
    words: "onw.txt",
    code: "source-not-found",
    ...source,
    says: /onw\.txt/,
    hint: /Did you mean (own\.txt)\?/,
    words2: (it) => it,
  },
  "a file to write without -o": {
    words: "own.txt new.rpz",
    code: "source-not-found",
    ...source,
    says: /new\.rpz/,
    hint: /add (-o new\.rpz)$/,
    words2: (it) => `own.txt ${it}`,
  },
  "a resolver instead of its format": {
    words: "own.txt --to bind -o new.zone",
    ...flag,
    says: /--to must be one of/,
    hint: /Did you mean (rpz)\?/,
    words2: (it) => `own.txt --to ${it} -o new.zone`,
  },
  "an end that is no date": {
    before: "compile",
    words: "block shop.example --until tomorrow",
    code: "bad-decision",
    exit: 2,
    says: /not a later date/,
    hint: /rules-compiler (block shop\.example --until 7d)$/,
    words2: (it) => it,
  },
  "a wait without a unit": {
    words: "prove --wait 2",
    ...flag,
    says: /duration/,
    hint: /--wait 2s/,
    words2: (it) => `compile ${it}`,
  },
  // The environment.
  "DEBUG with a number": {
    env: { DEBUG: "1" },
    code: "environment-ignored",
    exit: 0,
    says: /not 1/,
    hint: /DEBUG=(true)/,
    env2: (it) => ({ DEBUG: it }),
  },
  "CONFIG_PATH with a typing error": {
    env: { CONFIG_PATH: "compiler-confg.yaml" },
    code: "config-not-found",
    exit: 2,
    says: /confg/,
    hint: /-c (compiler-config\.yaml)/,
    env2: (it) => ({ CONFIG_PATH: it }),
  },
  "a SOCKS proxy": {
    config: configWith(URL_A),
    env: { HTTPS_PROXY: "socks5://127.0.0.1:1" },
    code: "fetch-failed",
    ...source,
    says: /socks5/,
    hint: /http:\/\/192\.0\.2\.1:3128/,
    env2: (it) => ({ HTTPS_PROXY: it }),
  },
  // The configuration.
  "a transformation in lower case": {
    config: `${GOOD}transformations: [compress]\n`,
    code: "unknown-transformation",
    exit: 2,
    says: /compress/,
    hint: /"(Compress)"/,
    config2: (it) => `${GOOD}transformations: [${it}]\n`,
  },
  "a misspelt key": {
    config: `${GOOD}transformation: [Compress]\n`,
    words: "validate --strict",
    ...bad,
    says: /transformation/,
    hint: /"(transformations)"/,
    config2: (it) => `${GOOD}${it}: [Compress]\n`,
  },
  "no name": {
    config: "sources:\n  - source: own.txt\n",
    code: "config-required",
    exit: 2,
    says: /name is required/,
    hint: /Add ("name": "My list")/,
    config2: (it) => `${it}\nsources:\n  - source: own.txt\n`,
  },
  "no sources": {
    config: "name: Home\n",
    code: "config-required",
    exit: 2,
    says: /sources is required/,
    hint: /Add ("sources": \[.*\])/,
    config2: (it) => `name: Home\n${it}\n`,
  },
  "an empty configuration": {
    config: "",
    code: "config-syntax",
    exit: 2,
    says: /empty/,
    hint: /Remove it, then: rules-compiler init/,
    config2: () => GOOD,
  },
  "a tab in YAML": {
    config: "name: Home\nsources:\n\t- source: own.txt\n",
    code: "config-syntax",
    exit: 2,
    says: /Tabs/,
    hint: /blanks/,
    config2: () => GOOD,
  },
  "a star without quotes in YAML": {
    config: `${GOOD}exclusions:\n  - *.example\n`,
    code: "config-syntax",
    exit: 2,
    says: /anchor/,
    hint: /Quote an entry that begins with \*: ("\*\.example")/,
    config2: (it) => `${GOOD}exclusions:\n  - ${it}\n`,
  },
  "a misspelt type": {
    config: configWith("own.txt", "    type: host\n"),
    ...bad,
    says: /type must be one of/,
    hint: /"(hosts)"/,
    config2: (it) => configWith("own.txt", `    type: ${it}\n`),
  },
  "a misspelt format": {
    config: `${GOOD}outputs:\n  - format: dnsmask\n`,
    ...bad,
    says: /format must be one of/,
    hint: /"(dnsmasq)"/,
    config2: (it) => `${GOOD}outputs:\n  - format: ${it}\n`,
  },
  "a duration in weeks": {
    config: configWith(URL_A, "    max_stale: 3 weeks\n"),
    ...bad,
    says: /duration/,
    hint: /"(7d)"/,
    config2: (it) => configWith(URL_A, `    max_stale: ${it}\n`),
  },
  "a guard that the list does not meet": {
    config: `${GOOD}guards: { min_rules: 100 }\n`,
    code: "too-few-rules",
    exit: 5,
    says: /at least 100/,
    hint: /--accept too-few-rules/,
    words2: (it) => it,
  },
  // The network.
  "a URL without https://": {
    config: configWith("lists.example/a.txt"),
    code: "source-not-found",
    ...source,
    says: /lists\.example/,
    hint: /write (https:\S+)/,
    config2: configWith,
  },
  "a list that is gone": {
    config: configWith("https://lists.example/b.txt"),
    code: "fetch-failed",
    ...source,
    says: /404/,
    hint: /correct it/,
    config2: () => configWith(URL_A),
  },
  "a scheme that is not supported": {
    config: configWith("ftp://lists.example/a.txt"),
    code: "fetch-failed",
    ...source,
    says: /neither http nor https/,
    hint: /https URL/,
    config2: () => configWith(URL_A),
  },
  "a server at home": {
    config: configWith(PRIVATE),
    code: "private-address",
    ...source,
    says: /private/,
    hint: /write (\{.*\})/,
    config2: (it) => `name: Home\nsources:\n  - ${it}\n`,
  },
  "a web page": {
    config: configWith("https://lists.example/page"),
    code: "source-is-html",
    ...source,
    says: /web page/,
    hint: /raw file/,
    config2: () => configWith(URL_A),
  },
  "a source that is too large": {
    config: configWith(URL_A, "    max_bytes: 10\n"),
    code: "fetch-failed",
    ...source,
    says: /larger than 10 bytes/,
    hint: /set (max_bytes: 1M)/,
    config2: (it) => configWith(URL_A, `    ${it}\n`),
  },
  "offline without a copy": {
    config: configWith(URL_A),
    words: "--offline --cache-dir cache",
    code: "offline-copies",
    ...source,
    says: /no cached copy/,
    hint: /without --offline/,
    first: () => "--cache-dir cache",
  },
};

function wordsOf(text: string): string[] {
  return text.split(" ").filter(Boolean);
}

test("the remedies of at least forty mistakes can be pasted as they are", () => {
  const [pasted, ...all] = ["PASTED", ...Object.values(MISTAKES)];
  const count = all.filter(({ first, words2, config2, env2 }) =>
    [first, words2, config2, env2].some((apply) =>
      JSON.stringify(apply?.(pasted))?.includes(pasted),
    ),
  ).length;
  assert.ok(count >= 40, `${count} of ${all.length}`);
});

for (const [name, mistake] of Object.entries(MISTAKES))
  test(`${name}: the remedy works when it is pasted`, async () => {
    const { words = "", config = GOOD, env, before, code, exit, says, hint } = mistake;
    const settings: { env: Record<string, string> } = { env: { ...env } };
    const files = { "own.txt": OWN, [CONFIG]: config, ...mistake.files };
    const project = new MemoryProject(files, {
      ...webOf(WEB),
      get env() {
        return settings.env;
      },
    });
    if (before !== undefined) assert.equal((await project.run(...wordsOf(before))).exit, 0);
    const said = await project.run(...wordsOf(words));
    assert.equal(said.exit, exit, said.stderr);
    assert.match(said.stderr, new RegExp(`^(?:error|warning)\\[${code}\\]: `, "m"));
    assert.match(said.stderr, says);
    // Notes come first.
    const told = said.stderr.slice(said.stderr.indexOf(`[${code}]`));
    const line = /^ {2}= hint: (.*)$/m.exec(told)?.[1] ?? "";
    const found = hint.exec(line);
    assert.ok(found, said.stderr);
    const pasted = found[1] ?? found[0];
    if (mistake.first !== undefined)
      assert.equal((await project.run(...wordsOf(mistake.first(pasted)))).exit, 0);
    if (mistake.config2 !== undefined) project.write(CONFIG, mistake.config2(pasted));
    if (mistake.env2 !== undefined) settings.env = mistake.env2(pasted);
    const again = await project.run(...wordsOf(mistake.words2?.(pasted) ?? words));
    assert.equal(again.exit, 0, again.stderr);
    assert.doesNotMatch(again.stderr, new RegExp(`^(?:error|warning)\\[${code}\\]`, "m"));
  });

test("a name that no line is about is asked for when it is allowed", async () => {
  const project = new MemoryProject({ "own.txt": OWN, [CONFIG]: GOOD });
  assert.equal((await project.run("compile")).exit, 0);
  const wrong = await project.run("allow", "adz.example");
  assert.match(wrong.stderr, /^No line of any source is about adz\.example\. Is that the name\?$/m);
  const right = await project.run("allow", "sub.ads.example");
  assert.doesNotMatch(right.stderr, /Is that the name/);
});

test("a plan while no server answers has one warning", async () => {
  const config = `name: Home\nsources: ["${URL_A}", "https://lists.example/b.txt"]\n`;
  const web: Record<string, string> = { [URL_A]: OWN, "https://lists.example/b.txt": OWN };
  let isDown = false;
  const { fetch } = webOf(web);
  const project = new MemoryProject(
    { [CONFIG]: config },
    {
      fetch: async (request) => {
        if (isDown) throw new HostError("ECONNREFUSED", "connection refused");
        return await fetch(request);
      },
    },
  );
  assert.equal((await project.run("compile", "--cache-dir", "cache")).exit, 0);
  isDown = true;
  const { stdout } = await project.run("plan", "--cache-dir", "cache");
  assert.deepEqual(stdout.match(/(?:warning|error)\[[\w-]+\]/g), ["warning[no-answer]"], stdout);
  assert.match(
    (await project.run("compile", "--cache-dir", "cache")).stderr,
    /warning\[no-answer\]/,
  );
  const offline = await project.run("compile", "--offline", "--cache-dir", "cache");
  assert.doesNotMatch(offline.stderr, /answer again|warning/);
});

test("the header of a list is not a rule that a format skips", async () => {
  const config = `${GOOD}outputs:\n  - format: dnsmasq\n`;
  const own = `[Adblock Plus 2.0]\n${OWN}`;
  const project = new MemoryProject({ [CONFIG]: config, "own.txt": own });
  const { exit, stderr } = await project.run("--no-cache");
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /dnsmasq, 2 names/);
  assert.doesNotMatch(stderr, /skipped/);
});
