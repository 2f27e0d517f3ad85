import type { FormatOutputReport } from "../../src/documents/facts.ts";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import dnsPacket, { type RecordType } from "dns-packet";
import { nameFormats } from "../../src/formats/formats.ts";
import { listIn } from "../support/documents.ts";
import { blocksOf } from "../support/markdown.ts";
import { isNightly } from "../support/nightly.ts";
import { type Protocol, askWith, startUpstream } from "../support/resolvers/dns-client.ts";
import { Running, type Server, servers } from "../support/resolvers/servers.ts";

const BIN = join(import.meta.dirname, "../../dist/cli/bin.js");
const GUIDE = join(import.meta.dirname, "../../docs/guide/answers.md");

const NAMES = isNightly ? 2000 : 300;
const REWRITES = 200;
const READY_MS = 60_000;
/** The page is below a name that the list blocks. */
const PAGE = "page.example.net";
const V4 = "192.0.2.10";
const V6 = "2001:db8::10";

/** What the server behind the resolvers says. */
const PASSED = { A: "NOERROR A 192.0.2.80", AAAA: "NOERROR", MX: "NOERROR" };
const NOTHING = { A: "NOERROR", AAAA: "NOERROR", MX: "NOERROR" };
type Asked = keyof typeof PASSED;
type Answers = Readonly<Record<Asked, string>>;

const everything = (answer: string): Answers => ({ A: answer, AAAA: answer, MX: answer });

/** Each answer as a configuration has it, and as a client sees it. */
const ANSWERS: Readonly<Record<string, { config: unknown; seen: Answers }>> = {
  nxdomain: { config: "nxdomain", seen: everything("NXDOMAIN") },
  null: { config: "null", seen: { ...NOTHING, A: "NOERROR A 0.0.0.0", AAAA: "NOERROR AAAA ::" } },
  nodata: { config: "nodata", seen: NOTHING },
  refused: { config: "refused", seen: everything("REFUSED") },
  address: {
    config: { address: [V4, V6] },
    seen: { ...NOTHING, A: `NOERROR A ${V4}`, AAAA: `NOERROR AAAA ${V6}` },
  },
  cname: {
    config: { cname: PAGE },
    seen: {
      A: `NOERROR CNAME ${PAGE}, A 192.0.2.80`,
      AAAA: `NOERROR CNAME ${PAGE}`,
      MX: `NOERROR CNAME ${PAGE}`,
    },
  },
};

const blocked = Array.from({ length: NAMES }, (_, index) => `b${index}.site${index % 91}.org`);

interface Rewritten {
  readonly name: string;
  readonly lines: readonly string[];
  /** The kind of answer that a format needs for it. */
  readonly kind: string;
  readonly isExact: boolean;
  readonly seen: Answers;
}

function rewritten(index: number): Rewritten {
  const name = `r${index}.own${index % 13}.org`;
  const [v4, v6] = [`198.51.100.${index % 256}`, `2001:db8:1::${index.toString(16)}`];
  const made = (kind: string, values: string[], seen: Answers, isExact = false): Rewritten => {
    const lines = values.map((value) => `${isExact ? "|" : "||"}${name}^$dnsrewrite=${value}`);
    return { name, lines, kind, isExact, seen };
  };
  const [A, AAAA] = [`NOERROR A ${v4}`, `NOERROR AAAA ${v6.replace("::0", "::")}`];
  switch (index % 8) {
    case 0:
      return made("address", [v4], { ...NOTHING, A });
    case 1:
      return made("address", [v6], { ...NOTHING, AAAA });
    case 2:
      return made("address", [v4, v6], { ...NOTHING, A, AAAA });
    case 3: {
      const target = `t${index}.elsewhere.net`;
      const alias = `NOERROR CNAME ${target}`;
      return made("cname", [target], { ...everything(alias), A: `${alias}, A 192.0.2.80` });
    }
    case 4:
      return made("nxdomain", ["NXDOMAIN;;"], everything("NXDOMAIN"));
    case 5:
      return made("refused", ["REFUSED;;"], everything("REFUSED"));
    case 6:
      return made("nodata", ["NOERROR;;"], NOTHING);
    default:
      return made("address", [v4], { ...NOTHING, A }, true);
  }
}

const rewrites = Array.from({ length: REWRITES }, (_, index) => rewritten(index));

/** A server, the answers that its format claims, and where it says less. */
interface Case {
  readonly server: string;
  /** Answers that the format has, but not this server. */
  readonly lacks?: readonly string[];
  readonly isExact?: boolean;
  /** It asks elsewhere for other types than addresses. */
  readonly addressesOnly?: boolean;
}

const CASES: readonly Case[] = [
  { server: "BIND" },
  { server: "unbound with RPZ" },
  // It passes what a zone answers with a name.
  { server: "Knot Resolver", lacks: ["cname"] },
  { server: "PowerDNS Recursor" },
  { server: "unbound" },
  { server: "dnsmasq" },
  { server: "dnsmasq with servers-file" },
  { server: "dnsmasq with hosts", isExact: true, addressesOnly: true },
];

let folder = "";
let upstream: Awaited<ReturnType<typeof startUpstream>>;
let outputs: readonly FormatOutputReport[] = [];

before(async () => {
  upstream = await startUpstream();
  folder = mkdtempSync(join(tmpdir(), "answers-"));
  // Some servers go on as somebody else.
  chmodSync(folder, 0o755);
  const lines = [
    "||example.net^",
    ...blocked.map((name) => `||${name}^`),
    ...rewrites.flatMap((one) => one.lines),
  ];
  writeFileSync(join(folder, "own.txt"), `${lines.join("\n")}\n`);
  const claimed = [...nameFormats].flatMap(([format, { answers = [] }]) =>
    answers.map((kind) => ({ format, kind })),
  );
  const config = {
    name: "List",
    sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
    transformations: ["Compress", "Deduplicate", "InsertFinalNewLine"],
    outputs: [
      ...claimed.map(({ format, kind }) => ({
        format,
        file: `${format}.${kind}`,
        answer: ANSWERS[kind]!.config,
      })),
      { format: "cdb", file: "list.cdb" },
    ],
  };
  writeFileSync(join(folder, "c.json"), JSON.stringify(config));
  const words = ["compile", "-c", "c.json", "--no-cache", "--json"];
  const report = execFileSync(process.execPath, [BIN, ...words], {
    cwd: folder,
    env: { ...process.env, RULES_DIR: folder },
    encoding: "utf8",
  });
  ({ outputs } = listIn(report) as { outputs: FormatOutputReport[] });
});

after(() => {
  upstream.close();
  rmSync(folder, { recursive: true });
});

/** Questions are texts such as `A name`. */
const RECORDS: Protocol<string> = {
  question(id, text) {
    const [type, name] = text.split(" ") as [RecordType, string];
    return dnsPacket.encode({
      type: "query",
      id,
      flags: 0x0100,
      questions: [{ type, name }],
    });
  },
  idOf: (answer) => answer.readUInt16BE(0),
  meaning(answer) {
    const packet = dnsPacket.decode(answer);
    const records = (packet.answers ?? []).map((one) =>
      one.type === "A" || one.type === "AAAA" || one.type === "CNAME"
        ? `${one.type} ${one.data.toLowerCase()}`
        : one.type,
    );
    const { rcode } = packet as unknown as { rcode: string };
    return `${rcode} ${records.join(", ")}`.trim();
  },
};

interface Question {
  readonly text: string;
  readonly wanted: string;
}

function questionsFor(name: string, wanted: Answers, types: readonly Asked[]): Question[] {
  return types.map((type) => ({ text: `${type} ${name}`, wanted: wanted[type] }));
}

function allQuestions(
  { isExact = false, addressesOnly = false }: Case,
  kind: string,
  says: (one: Rewritten) => boolean,
): Question[] {
  const { seen } = ANSWERS[kind]!;
  const types: Asked[] = addressesOnly ? ["A", "AAAA"] : ["A", "AAAA", "MX"];
  const below = isExact ? PASSED : seen;
  return [
    ...blocked.flatMap((name) => questionsFor(name, seen, types)),
    ...blocked.flatMap((name) => questionsFor(`w.${name}`, below, ["A"])),
    ...blocked.flatMap((name) => questionsFor(`x${name}`, PASSED, ["A"])),
    ...questionsFor(PAGE, PASSED, ["A"]),
    ...questionsFor("other.example.net", below, ["A"]),
    ...rewrites.flatMap((one) => {
      const answers = addressesOnly ? familiesOf(one.seen) : one.seen;
      const own = says(one) ? answers : PASSED;
      const children = one.isExact || isExact ? PASSED : own;
      return [
        ...questionsFor(one.name, own, types),
        ...questionsFor(`w.${one.name}`, children, ["A"]),
      ];
    }),
  ];
}

/** A hosts file says nothing about the other family. */
function familiesOf(seen: Answers): Answers {
  const isNamed = (type: "A" | "AAAA"): boolean => seen[type] !== "NOERROR";
  return {
    ...PASSED,
    ...(isNamed("A") && { A: seen.A }),
    ...(isNamed("AAAA") && { AAAA: seen.AAAA }),
  };
}

function fromRight(name: string): string {
  return name.split(".").toReversed().join("\0");
}

/** Ports are open before lists are read; BIND takes names in by their labels from the right. */
async function ready(running: Running, atOnce: number): Promise<void> {
  const last = blocked.reduce((a, b) => (fromRight(a) > fromRight(b) ? a : b));
  const asked = ["example.net", blocked.at(-1)!, last].map((name) => `A ${name}`);
  for (const began = Date.now(); ;) {
    const answers = await askWith(RECORDS, running.port, asked, atOnce);
    const [control] = await askWith(RECORDS, running.port, ["A control.org"], atOnce);
    if (!answers.some((one) => one === PASSED.A || one === "silent" || one === "SERVFAIL"))
      if (control === PASSED.A) return;
    assert.equal(running.child.exitCode, null, running.log);
    assert.ok(Date.now() - began < READY_MS, `not ready: ${answers.join("; ")}\n${running.log}`);
    await new Promise((later) => setTimeout(later, 50));
  }
}

/** Asks a server everything, and returns what it answers wrongly. */
async function wrongAnswers(
  server: Server,
  files: { list: string; allow: string },
  questions: readonly Question[],
): Promise<string[]> {
  const own = mkdtempSync(join(folder, "server-"));
  chmodSync(own, 0o755);
  const running = await Running.start(server, { folder: own, upstream: upstream.port, ...files });
  try {
    await ready(running, 8);
    const texts = questions.map(({ text }) => text);
    const answers = await askWith(RECORDS, running.port, texts, 32);
    // A busy server behind a resolver makes it fail for a while.
    for (let round = 0; round < 5; round++) {
      const open = [...answers.keys()].filter((at) => /^(?:silent|SERVFAIL)/.test(answers[at]!));
      if (open.length === 0) break;
      await new Promise((later) => setTimeout(later, 500));
      const again = await askWith(
        RECORDS,
        running.port,
        open.map((at) => texts[at]!),
        8,
      );
      for (const [place, at] of open.entries()) answers[at] = again[place]!;
    }
    // Names that an exception lets pass are looked for in the open internet, where there is none.
    const isElsewhere = (said: string, wanted: string): boolean =>
      server.failsWhenPassed === true && said === "SERVFAIL" && wanted === PASSED.A;
    return questions.flatMap(({ text, wanted }, at) => {
      const said = answers[at]!;
      return said === wanted || isElsewhere(said, wanted)
        ? []
        : [`${text}: ${said}, not ${wanted}`];
    });
  } finally {
    await running.stop();
  }
}

for (const one of CASES) {
  const server = servers.get(one.server)!;
  const { answers = [] } = nameFormats.get(server.format)!;
  const kinds = answers.filter((kind) => one.lacks?.includes(kind) !== true);
  test(
    `${one.server} gives every answer of ${server.format}, and rewrites`,
    { timeout: 600_000 },
    async (context) => {
      let asked = 0;
      for (const kind of kinds) {
        const list = join(folder, `${server.format}.${kind}`);
        // An answer without records is no reason for a hosts file to name a machine; other formats have what they claim.
        const isClaimed = (rewrite: Rewritten): boolean => answers.includes(rewrite.kind as never);
        const says = (rewrite: Rewritten): boolean =>
          isClaimed(rewrite) && one.lacks?.includes(rewrite.kind) !== true;
        const { losses } = outputs.find(({ file }) => file.endsWith(`${server.format}.${kind}`))!;
        const lost = losses.find(({ reason }) => reason === "rewrite")?.count ?? 0;
        const unsaid = rewrites.filter((rewrite) => !isClaimed(rewrite));
        assert.equal(
          lost,
          unsaid.flatMap(({ lines }) => lines).length,
          `${server.format} reports what it does not rewrite`,
        );
        const questions = allQuestions(one, kind, says);
        const wrong = await wrongAnswers(server, { list, allow: "" }, questions);
        assert.equal(wrong.length, 0, `${kind}: ${wrong.slice(0, 10).join("\n")}`);
        asked += questions.length;
      }
      const said = rewrites.filter((rewrite) => answers.includes(rewrite.kind as never)).length;
      context.diagnostic(
        `${one.server}: ${kinds.join(", ")}; ${asked} questions about ${NAMES} names and ${REWRITES} rewrites (${said} of them have an answer in ${server.format}), 0 wrong`,
      );
    },
  );
}

const DATABASE_ANSWERS = ["nxdomain", "refused", "nodata", "null", "address"];

/** The lines of the guide for an answer. */
function dnsdistLines(kind: string): string {
  const page = readFileSync(GUIDE, "utf8");
  const { text } = blocksOf(page).find(({ title }) => title === "page.lua")!;
  const both = text.replace("/var/lib/rules", folder);
  if (kind === "address") return both;
  const row = page.split("\n").find((line) => line.startsWith(`| \`${kind}\` |`))!;
  const action = /\w+Action\(.*\)/.exec(row)![0];
  if (kind === "null") return both.replace(/SpoofAction\(\{[^}]*\}\)/, action);
  return `${both.split("\n")[0]}\naddAction(list.blocks(), ${action})\n`;
}

test("dnsdist gives every answer of the guide, and passes what only rewrites are for", async (context) => {
  const { losses } = outputs.find(({ format }) => format === "cdb")!;
  const lost = losses.find(({ reason }) => reason === "rewrite")?.count;
  assert.equal(lost, rewrites.flatMap(({ lines }) => lines).length);
  for (const kind of DATABASE_ANSWERS) {
    const start: Server["start"] = (setting) => {
      const path = join(setting.folder, "dnsdist.conf");
      writeFileSync(
        path,
        `setLocal('127.0.0.1:${setting.port}'); setACL({'127.0.0.0/8'}); setSecurityPollSuffix('')
newServer({ address = '127.0.0.1:${setting.upstream}', healthCheckMode = 'up' })
${dnsdistLines(kind)}`,
      );
      return ["dnsdist", "--supervised", "--disable-syslog", "-C", path];
    };
    const questions = allQuestions({ server: "dnsdist" }, kind, () => false);
    const wrong = await wrongAnswers({ format: "cdb", start }, { list: "", allow: "" }, questions);
    assert.equal(wrong.length, 0, `${kind}: ${wrong.slice(0, 10).join("\n")}`);
    context.diagnostic(`dnsdist: ${kind}; ${questions.length} questions, 0 wrong`);
  }
});
