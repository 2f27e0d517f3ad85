import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { HookProject, script, webhook } from "../support/hook-project.ts";

/** Configurations that must be refused as a whole: nothing is built, and nothing runs. */
const INVALID: Readonly<Record<string, unknown>> = {
  "a shell line instead of words": { run: "touch owned; echo" },
  "an object as words": { run: { 0: "touch", 1: "owned" } },
  "a number among words": { run: ["touch", 7] },
  "null among words": { run: [null, "owned"] },
  "a list among words": { run: ["touch", ["owned"]] },
  "no words": { run: [] },
  "an empty program": { run: ["", "owned"] },
  "a program of blanks": { run: [" ", "owned"] },
  "a NUL in a word": { run: ["touch", "owned\u0000x"] },
  "a NUL in the program": { run: ["touch\u0000", "owned"] },
  "a relative program": { run: ["./evil.sh"] },
  "a relative program above": { run: ["../evil.sh"] },
  "a program in a folder": { run: ["bin/evil.sh"] },
  "a relative Windows program": { run: ["bin\\evil.exe"] },
  "two forms at once": { run: ["true"], reload: "bind" },
  "no form": { on: ["published"] },
  "an unknown event": { run: ["true"], on: ["always"] },
  "an event that is not a list": { run: ["true"], on: "published" },
  "no events": { run: ["true"], on: [] },
  "an endless timeout": { run: ["true"], timeout: "99d" },
  "no time": { run: ["true"], timeout: "0s" },
  "an unknown resolver": { reload: "unbound; touch owned" },
  "a resolver that is a property of objects": { reload: "constructor" },
  "a form that is a property of objects": { post: "url", as: "__proto__" },
  "options of another resolver": { reload: "dnsmasq", with: ["-c", "/tmp/x"] },
  "an address over http": { reload: "technitium", url: "http://example.org", token_file: "t" },
  "an address with a password": { reload: "pi-hole", url: "https://a:b@example.org" },
  "an address of a file": { reload: "pi-hole", url: "file:///etc/passwd" },
  "an address in the configuration": { post: { url: "https://example.org/planted" } },
  "a NUL in a file name": { post: "url\u0000" },
  "a form without a message": { run: ["true"], as: "slack" },
};

test("an invalid hook is reported with its place, and nothing is built", async (t) => {
  const project = new HookProject(t, []);
  for (const [title, hook] of Object.entries(INVALID)) {
    project.hooks([{ run: ["touch", "owned"] }, hook]);
    const { exit, stderr } = await project.run("-c", "c.json", "--permit", "hooks");
    assert.equal(exit, 2, `${title}: ${stderr}`);
    assert.match(stderr, /after\[1\]/, title);
    assert.doesNotMatch(stderr, /[\u0000\u001b]/, title);
    assert.ok(!project.has("rules") && !project.has("owned"), title);
  }
  assert.ok(Object.keys(INVALID).length >= 20);
});

const SHOW = script(
  `require("fs").appendFileSync("said", JSON.stringify({ argv: process.argv.slice(1), env: process.env, input: require("fs").readFileSync(0, "utf8") }) + "\\n")`,
);

test("names with shell syntax, line breaks and escapes reach a program as plain text", async (t) => {
  const names = [
    "$(touch owned) `touch owned`; touch owned | touch owned && touch owned",
    "a\nRULES_COMPILER_EVENT=failed\nLD_PRELOAD=/tmp/x.so",
    "\u001b]0;title\u0007 \u202e evil",
    "nul \u0000 end",
    "' \" \\ %PATH% !x ~ * ?",
    "x".repeat(5000),
  ];
  for (const name of names) {
    const project = new HookProject(
      t,
      [{ run: [...SHOW, "$(touch owned)", "--", name.replaceAll("\u0000", "")] }],
      { name },
    );
    const { exit, stderr } = await project.run(
      "-c",
      "c.json",
      "--permit",
      "hooks",
      "-o",
      "list.txt",
    );
    assert.equal(exit, 0, stderr);
    assert.doesNotMatch(stderr, /[\u0000\u001b\u0007\u202e]/);
    assert.match(stderr, /hook-ran/);
    const [said] = project.said("said");
    assert.deepEqual(said!["argv"], ["$(touch owned)", "--", name.replaceAll("\u0000", "")]);
    const env = said!["env"] as Record<string, string>;
    assert.equal(env["RULES_COMPILER_EVENT"], "published");
    assert.equal(env["LD_PRELOAD"], undefined);
    assert.equal(env["PLANTED"], undefined);
    for (const value of Object.values(env)) assert.doesNotMatch(value, /[\n\u001b]/);
    const input = said!["input"] as string;
    assert.equal(input.split("\n").length, 2);
    assert.equal((JSON.parse(input) as { list: string }).list, name);
    assert.ok(!project.has("owned"));
  }
});

test("a program beside the configuration is not found through PATH", async (t) => {
  const project = new HookProject(t, [{ run: ["evil-program"] }]);
  const changed = { PATH: `.:bin::${process.env["PATH"]}` };
  const other = new HookProject(t, [{ run: ["evil-program"] }]);
  Object.assign(other, { changes: { env: changed } });
  mkdirSync(join(other.folder, "bin"));
  for (const file of ["evil-program", "bin/evil-program"])
    writeFileSync(join(other.folder, file), "#!/bin/sh\ntouch owned\n", { mode: 0o755 });
  for (const one of [project, other]) {
    const { exit, stderr } = await one.run("-c", "c.json", "--permit", "hooks");
    assert.equal(exit, 0);
    assert.match(stderr, /because: evil-program: the program does not exist/);
    assert.ok(!one.has("owned"));
  }
});

test("files of secrets that are folders, devices, missing or huge are reported, and the run ends", async (t) => {
  const { base, received } = await webhook(t);
  const names = ["folder", "/dev/zero", "missing", "huge", "empty", "/proc/self/environ"];
  const hooks = names.map((file) => ({ post: file }));
  const project = new HookProject(t, hooks);
  mkdirSync(join(project.folder, "folder"));
  project.write("huge", `${base}/${"x".repeat(2_000_000)}`);
  project.write("empty", "");
  const { exit, stderr } = await project.run("-c", "c.json", "--permit", "hooks");
  assert.equal(exit, 0);
  assert.equal(stderr.split("Hook failed: post").length - 1, names.length, stderr);
  assert.deepEqual(received, []);
});

test("a PID file cannot direct a signal to another program", async (t) => {
  const files = ["own", "text", "negative", "zero", "list", "link"];
  const hooks = files.map((file) => ({ reload: "dnsmasq", pid_file: file }));
  const project = new HookProject(t, hooks);
  project.write("own", `${process.pid}\n`);
  project.write("text", "dnsmasq");
  project.write("negative", "-1");
  project.write("zero", "0");
  project.write("list", "1 2 3");
  symlinkSync("own", join(project.folder, "link"));
  const { exit, stderr } = await project.run("-c", "c.json", "--permit", "hooks");
  assert.equal(exit, 0);
  // This process would end with the signal.
  assert.doesNotMatch(stderr, /hook-ran/);
  assert.match(stderr, /is not dnsmasq/);
  assert.match(stderr, /negative does not contain a PID/);
});
