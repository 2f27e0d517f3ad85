import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, before, test } from "node:test";
import { DEFAULT_OPTIONS } from "../../src/formats/name-format.ts";
import { nameFormats } from "../../src/formats/formats.ts";
import { missingCorpus } from "../support/corpus.ts";
import { isNightly } from "../support/nightly.ts";
import { Random } from "../support/random.ts";
import { compileFor } from "../support/resolvers/compiled-for.ts";
import { type Said, askAll, startUpstream } from "../support/resolvers/dns-client.ts";
import { NaiveNames } from "../support/resolvers/naive-names.ts";
import { realNames } from "../support/resolvers/real-names.ts";
import { anyRuleSets, randomRuleSets } from "../support/resolvers/rule-sets.ts";
import {
  Running,
  type Server,
  isMissing,
  runCheck,
  servers,
} from "../support/resolvers/servers.ts";

const LISTED = 200_000;
const PROBES = 20_000;
const ALLOWED = 500;
const READY_MS = 60_000;
const SILENT_ROUNDS = 5;

let names: { listed: string[]; controls: string[] } = { listed: [], controls: [] };
before(() => {
  if (missingCorpus === false) names = realNames(LISTED, PROBES);
});

function fromRight(name: string): string {
  return name.split(".").toReversed().join("\0");
}

/**
 * Asks until the last name of the list is blocked and another is not: ports are open before lists are read. BIND takes names in in the
 * order of their labels from the right, a few at a time, so the last one by that order counts as well.
 */
async function ready(running: Running, server: Server, listed: readonly string[]): Promise<void> {
  const began = Date.now();
  const last = listed.reduce((a, b) => (fromRight(a) > fromRight(b) ? a : b));
  for (;;) {
    const answers = await ask(running.port, server, [listed.at(-1)!, last, "control.example"]);
    if (answers.join() === "blocked,blocked,passed") return;
    assert.equal(running.child.exitCode, null, running.log);
    assert.ok(Date.now() - began < READY_MS, `not ready: ${answers.join()}\n${running.log}`);
    await new Promise((later) => setTimeout(later, 50));
  }
}

async function ask(port: number, server: Server, asked: readonly string[]): Promise<Said[]> {
  const { suffix = "", atOnce, isInverted } = server;
  const questions = asked.map((name) => name + suffix);
  const answers = await askAll(port, questions, atOnce);
  // On a busy machine a resolver gives up on the server behind it for a while: it says nothing, or that it failed. Such questions are
  // asked again, a few at a time. A list that makes a resolver fail makes it fail each time.
  const isUnanswered = (said: Said): boolean =>
    said === "silent" || (said === "failed" && server.failsWhenPassed !== true);
  for (let round = 0; round < SILENT_ROUNDS && answers.some(isUnanswered); round++) {
    await new Promise((later) => setTimeout(later, 1000));
    const open = [...answers.keys()].filter((index) => isUnanswered(answers[index]!));
    const again = await askAll(
      port,
      open.map((index) => questions[index]!),
      8,
    );
    for (const [place, index] of open.entries()) answers[index] = again[place]!;
  }
  if (server.failsWhenPassed === true)
    return answers.map((said) => (said === "failed" ? "passed" : said));
  // rbldnsd has an answer for what is listed, and none for anything else.
  return isInverted === true
    ? answers.map((said) => (said === "listed" ? "blocked" : said === "blocked" ? "passed" : said))
    : answers;
}

async function prove(name: string, server: Server, context: TestContext): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "resolver-"));
  context.after(() => rmSync(folder, { recursive: true }));
  // Some servers go on as somebody else.
  chmodSync(folder, 0o755);
  const format = nameFormats.get(server.format)!;
  const sets = randomRuleSets(format, new Random(7));
  const any = anyRuleSets(new Random(8));
  const hasAllow = format.lines(DEFAULT_OPTIONS).allowSubtree !== undefined;
  const allowed = names.listed.slice(0, ALLOWED).map((one) => `allowed.${one}`);
  const lines = [
    ...(hasAllow ? allowed.map((one) => `@@||${one}^`) : []),
    ...sets.rules,
    ...names.listed.map((one) => `||${one}^`),
  ];
  const sayable = compileFor(server.format, lines, folder);
  const narrowing = sayable.artifact.losses.filter(({ reason }) => reason !== "narrowed");
  assert.deepEqual(narrowing, [], "the format can say all of it");
  const all = [...any.rules, ...lines];
  const { text, artifact, list, allow } = compileFor(server.format, all, folder);
  const naive = new NaiveNames(text);
  // A format without subtrees has every name that a source names, also those that a parent in the list covers.
  const named = new NaiveNames(all.join("\n"));
  const isExact = format.lines(DEFAULT_OPTIONS).subtree === undefined;
  const isBlocked = (one: string): boolean =>
    naive.isBlocked(one) && (!isExact || named.isNamed(one));
  const upstream = await startUpstream();
  context.after(() => upstream.close());
  if (server.check !== undefined) {
    const check = server.check({ folder, port: 53, upstream: upstream.port, list, allow });
    const { status, said } = runCheck(check);
    assert.equal(status, 0, said.slice(0, 500));
    if (server.complaint !== undefined) assert.doesNotMatch(said, server.complaint);
  }
  const running = await Running.start(server, { folder, upstream: upstream.port, list, allow });
  context.after(() => running.stop());
  const began = Date.now();
  await ready(running, server, names.listed);
  const readyMs = Date.now() - began;
  const memory = Math.round(running.memory / 1024 / 1024);
  const every = Math.floor(names.listed.length / PROBES);
  const some = names.listed.filter((_, index) => index % every === 0).slice(0, PROBES);
  // dnsmasq takes 0.2 ms for a question, ten times as long as the others.
  const isThinned = name.startsWith("dnsmasq") && !isNightly;
  const asked = [
    ...(isThinned ? names.listed.filter((_, index) => index % 4 === 0) : names.listed),
    ...some.map((one) => `x9z.${one}`),
    ...some.map((one) => `zz9${one}`).filter((one) => /^[^.]{1,63}\./.test(one)),
    ...names.controls,
    ...allowed,
    ...allowed.map((one) => `q.${one}`),
    ...sets.names,
  ];
  const isAny = new Set(any.names);
  asked.push(...any.names);
  const answers = await ask(running.port, server, asked);
  // Of what the format cannot say as it is meant, nothing more than that may be blocked.
  const wrong = [...asked.keys()].filter((index) => {
    const one = asked[index]!;
    if (!isBlocked(one)) return answers[index] !== "passed";
    return answers[index] !== "blocked" && !isAny.has(one);
  });
  const missed = any.names.filter(
    (one, index) =>
      isBlocked(one) && answers[asked.length - any.names.length + index] !== "blocked",
  );
  const seconds = ((Date.now() - began - readyMs) / 1000).toFixed(1);
  context.diagnostic(
    `${name}: ${artifact.names} names, ${artifact.bytes} bytes; ready after ${readyMs} ms, ${memory} MiB; ${asked.length} questions in ${seconds} s, ${wrong.length} wrong; of ${any.names.length} names of all kinds of rules ${any.names.filter(isBlocked).length} are blocked, ${missed.length} of them not here`,
  );
  const shown = wrong.slice(0, 10).map((index) => {
    const one = asked[index]!;
    return `${one}: ${answers[index]}, and the list ${isBlocked(one) ? "blocks" : "does not block"} it`;
  });
  assert.equal(wrong.length, 0, `${shown.join("\n")}\n${running.log.slice(-300)}`);
  assert.ok(asked.filter(isBlocked).length > (isThinned ? LISTED / 4 : LISTED) - ALLOWED);
}

for (const [name, server] of servers)
  test(
    `${name} answers correctly for listed names, subdomains, similar names and random rules`,
    { timeout: 600_000, skip: missingCorpus || isMissing(name) },
    async (context) => {
      await prove(name, server, context);
    },
  );
