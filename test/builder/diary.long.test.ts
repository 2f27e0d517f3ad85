import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { adguardEngine, missingEngine } from "../support/reference/adguard-engine.ts";
import { corpusConfig, corpusFolder, missingCorpus } from "../support/corpus.ts";
import { DiskProject } from "../support/disk-project.ts";
import type { Said } from "../support/memory-project.ts";

const DAYS = 14;
const LISTS = 11;
const PART = 15;
const FIRST_DAY = Date.UTC(2026, 10, 1, 4);
const DAY_MS = 86_400_000;
/** Dropped from every remote list, and accepted only from a list that is new or blocks such names already. */
const DROPPED = ["google.com", "www.google.com", "paypal.com", "microsoft.com", "sparkasse.de"];
const ACCEPTED = ["whatsapp.net", "amazon.de"];
/** Nobody can know that somebody wants it. */
const WANTED = "turnverein-musterstadt.de";

/** A day of a maintainer: 0.3 % of the lines go, as many come. */
function edition(lines: readonly string[], day: number): string {
  return lines
    .filter((line) => {
      const part = hashOf(line) % 1000;
      return part < 60 ? part < day * 3 : part >= 60 + day * 3;
    })
    .join("\n");
}

function hashOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) >>> 0;
  return hash;
}

/** What each list has on a day; undefined for a list that is gone. */
function bodyOf(name: string, lines: readonly string[], day: number): string | undefined {
  const body = edition(lines, day);
  if (name === "anudeepND" && day >= 3) return undefined;
  if (name === "badmojr" && day === 8)
    return "<!doctype html><title>Sign in</title><p>Please sign in.";
  if (name === "FiltersHeroes" && day >= 7 && day <= 8)
    return `${body}\n${Array.from({ length: 40_000 }, (_, at) => `0.0.0.0 h${at}.flood.example`).join("\n")}`;
  if (name !== "Smart TV") return body;
  const needed = day < 5 ? [] : [...DROPPED, ...ACCEPTED].map((one) => `||${one}^`);
  const wanted = day < 9 ? [] : [`||${WANTED}^`];
  return [body, ...needed, ...wanted].join("\n");
}

/** Messages begin a line; what follows is indented. */
function messagesOf({ stderr }: Said): string[] {
  return stderr.split("\n").filter((line) => /^(?:error|warning|news|note)\b/.test(line));
}

test(
  "fourteen days with twelve real lists: nobody loses a site, nothing stops, news come once",
  { skip: missingCorpus || missingEngine, timeout: 900_000 },
  async (context) => {
    const engineOf = await adguardEngine();
    const lists = new Map<string, readonly string[]>();
    for (const { source } of corpusConfig().sources.slice(0, LISTS + 5)) {
      const [owner = ""] = source.split("__");
      if (lists.has(owner) || lists.size === LISTS) continue;
      const lines = readFileSync(join(corpusFolder("typical"), source), "utf8").split("\n");
      // A part of each list, so that fourteen days take a minute.
      lists.set(
        owner,
        lines.filter((line, at) => at < 50 || hashOf(`${line}#`) % PART === 0),
      );
    }
    lists.set(
      "Smart TV",
      Array.from({ length: 290 }, (_, at) => `||ads${at}.tv-maker${at % 9}.com^`),
    );
    let [day, isUp] = [0, true];
    const server = createServer((request, response) => {
      const name = decodeURIComponent((request.url ?? "/").slice(1));
      const body = bodyOf(name, lists.get(name) ?? [], day);
      if (!isUp) response.destroy();
      else if (body === undefined) response.writeHead(404).end("not found");
      else response.writeHead(200, { "content-type": "text/plain" }).end(body);
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    context.after(() => {
      server.close();
      server.closeAllConnections();
    });
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const now = (): Date => new Date(FIRST_DAY + day * DAY_MS);
    const [quiet, loud] = [new DiskProject(context, { now }), new DiskProject(context, { now })];
    const told: string[] = [];
    for (day = 0; day < DAYS; day++) {
      isUp = day !== 11;
      const config = {
        name: "Home",
        sources: [...lists.keys()].map((name) => ({
          name,
          source: `${base}/${encodeURIComponent(name)}`,
          allow_private: true,
          check_count: false,
        })),
        transformations: ["RemoveComments", "Compress", "Validate", "Deduplicate"],
        ...(day >= 10 && { allow: [WANTED] }),
      };
      quiet.write("compiler-config.json", JSON.stringify(config));
      loud.write("compiler-config.json", JSON.stringify(config));
      const said = await quiet.run("-q");
      const all = await loud.run();
      const at = `day ${day}:\n${said.stderr}`;
      assert.ok(said.exit === 0 || said.exit === 3, at);
      assert.equal(all.exit, said.exit, at);
      const messages = messagesOf(said);
      context.diagnostic(`day ${day}, exit ${said.exit}: ${messages.join(" | ")}`);
      assert.ok(messages.length <= 2, at);
      for (const message of messages) {
        assert.ok(!told.includes(message), `twice on ${at}`);
        assert.ok(all.stderr.includes(message), `${message} is missing without -q: ${all.stderr}`);
      }
      assert.deepEqual(messagesOf(all), messages, `day ${day}: ${all.stderr}`);
      told.push(...messages);
      const list = quiet.text("rules/home.txt");
      const verdict = engineOf(list);
      for (const name of [...DROPPED, ...ACCEPTED])
        assert.notEqual(verdict(name), "blocked", `${name} on ${at}`);
      // The limit of what a program can know, and what its user does about it.
      assert.equal(verdict(WANTED) === "blocked", day === 9, at);
      assert.equal(verdict("h77.flood.example") === "blocked", false, at);
      assert.ok(list.length > 500_000, `${list.length} bytes on ${at}`);
    }
    assert.ok(told.length >= 5, told.join("\n"));
  },
);
