import { spawnSync } from "node:child_process";
import process from "node:process";
import { adguardEngine } from "./adguard-engine.ts";
import type { Meaning } from "./list-matcher.ts";

/** What a client asks. */
export interface Question {
  readonly name: string;
  readonly type: string;
  /** The client's address, or its tag. */
  readonly client: string;
}

/** An engine that others wrote: it reads a list and answers questions. */
export interface Judge {
  readonly engine: "AdGuard Home" | "tsurlfilter";
  /** Whether it knows clients and types of questions. Others ignore rules for some. */
  readonly knowsQuestions: boolean;
  /** What it makes of each list for its questions. */
  readonly answers: (asked: readonly Asked[]) => Meaning[][];
}

export interface Asked {
  readonly list: string;
  readonly questions: readonly Question[];
}

/** The npm engine, and AdGuard Home's own if `URLFILTER_JUDGE` is the path of a program that asks it. */
export async function judges(): Promise<readonly Judge[]> {
  const engineOf = await adguardEngine();
  const npm: Judge = {
    engine: "tsurlfilter",
    knowsQuestions: false,
    answers: (asked) =>
      asked.map(({ list, questions }) => {
        const engine = engineOf(list);
        return questions.map(({ name }) => engine(name));
      }),
  };
  const path = process.env["URLFILTER_JUDGE"];
  return path === undefined ? [npm] : [npm, adguardHome(path)];
}

function adguardHome(path: string): Judge {
  return {
    engine: "AdGuard Home",
    knowsQuestions: true,
    answers: (asked) => {
      const input = asked.map((one) => JSON.stringify(documentOf(one))).join("\n");
      const { status, stdout, stderr } = spawnSync(path, {
        input,
        encoding: "utf8",
        maxBuffer: 1 << 28,
      });
      if (status !== 0) throw new Error(`${path}: ${stderr}`);
      const lines = stdout.trim().split("\n");
      return lines.map((line) => JSON.parse(line) as Meaning[]);
    },
  };
}

function documentOf({ list, questions }: Asked): object {
  const names = questions.map(({ name, type, client }) => ({
    name,
    type,
    ...(/^\d/.test(client) ? { ip: client } : { tags: client === "" ? [] : [client] }),
  }));
  return { list, names };
}
