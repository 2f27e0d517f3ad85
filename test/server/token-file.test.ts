import assert from "node:assert/strict";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { readToken } from "../../src/server/requests.ts";
import { DiskProject } from "../support/disk-project.ts";
import { CompilerError, nodeHost } from "../support/internals.ts";

const TOKEN = "0123456789abcdef";

/** What is wrong with a token file; "" if it is good. */
async function problemOf(project: DiskProject, file: string): Promise<string> {
  try {
    const token = await readToken(file, { ...nodeHost(), cwd: project.folder });
    assert.ok(token.isIn(`Bearer ${TOKEN}`));
    assert.ok(!JSON.stringify(token).includes(TOKEN));
    return "";
  } catch (error) {
    assert.ok(error instanceof CompilerError);
    const [problem] = error.diagnostics;
    assert.equal(problem!.code, "bad-token-file");
    assert.equal(error.exit, 2);
    assert.doesNotMatch(JSON.stringify(error.diagnostics), /0123456|secret/);
    return problem!.message;
  }
}

test("several tokens have a name each, by which the log knows who acted", async (context) => {
  const project = new DiskProject(context);
  const other = "fedcba9876543210";
  const read = async (text: string): ReturnType<typeof readToken> => {
    project.write("token", text);
    chmodSync(join(project.folder, "token"), 0o600);
    return await readToken("token", { ...nodeHost(), cwd: project.folder });
  };
  const tokens = await read(`anna ${TOKEN}\nben@night ${other}\n`);
  assert.deepEqual(tokens.holderIn(`Bearer ${TOKEN}`), { name: "anna" });
  assert.deepEqual(tokens.holderIn(`Bearer ${other}`), { name: "ben@night" });
  for (const wrong of [undefined, "", "Bearer", `Bearer ${TOKEN}x`, `Bearer anna ${TOKEN}`])
    assert.equal(tokens.holderIn(wrong), undefined);
  assert.deepEqual((await read(`${TOKEN}\n`)).holderIn(`Bearer ${TOKEN}`), { name: "" });
  const bad = [
    `anna ${TOKEN}\n${other}\n`,
    `anna ${TOKEN}\nanna ${other}\n`,
    `an na ${TOKEN}`,
    `\u001b[31m ${TOKEN}`,
    "anna short",
  ];
  for (const text of bad) await assert.rejects(read(text), CompilerError, text);
});

test("a token is one line in a file", async (context) => {
  const project = new DiskProject(context);
  const cases: readonly (readonly [string, RegExp])[] = [
    [TOKEN, /^$/],
    [`${TOKEN}\n`, /^$/],
    [`${TOKEN}\r\n`, /^$/],
    ["", /must contain one line of 16 to 4096/],
    ["secret-too-15ch", /must contain/],
    [`${TOKEN}\n${TOKEN}\n`, /must contain/],
    [` ${TOKEN}`, /must contain/],
    [`${TOKEN}\u0000`, /must contain/],
    ["sécret-0123456789abcdef", /must contain/],
    ["0".repeat(4097), /must contain/],
  ];
  for (const [text, said] of cases) {
    project.write("token", text);
    chmodSync(join(project.folder, "token"), 0o600);
    assert.match(await problemOf(project, "token"), said, JSON.stringify(text.slice(0, 40)));
  }
  assert.match(await problemOf(project, "missing"), /cannot be read/);
  mkdirSync(join(project.folder, "folder"), { mode: 0o700 });
  assert.match(await problemOf(project, "folder"), /cannot be read/);
});

test(
  "a token file that other users can read is refused",
  { skip: process.platform === "win32" },
  async (context) => {
    const project = new DiskProject(context);
    project.write("token", TOKEN);
    for (const [mode, said] of [
      [0o600, /^$/],
      [0o640, /^$/],
      [0o644, /^Other users can read the token file$/],
      [0o604, /^Other users/],
      [0o666, /^Other users/],
    ] as const) {
      chmodSync(join(project.folder, "token"), mode);
      assert.match(await problemOf(project, "token"), said, mode.toString(8));
    }
  },
);
