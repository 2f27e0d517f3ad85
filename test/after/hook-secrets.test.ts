import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BAD, HookProject, webhook } from "../support/hook-project.ts";

const SECRET = "planted5ecret";

/** Everything below a folder except the files that hold the secrets. */
function filesOf(folder: string): { name: string; text: string }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(?:url|token)$/.test(entry.name))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return { name: path, text: readFileSync(path, "latin1") };
    });
}

test("secrets of hooks are found in no output, file, report or error", async (t) => {
  // A server that repeats everything that it receives, in all of its answers.
  const { base, received } = await webhook(t, ({ url, headers, body }) => ({
    status: [200, 302, 401, 500][received.length % 4]!,
    headers: { location: `http://127.0.0.1:9/${SECRET}`, "x-echo": SECRET },
    body: JSON.stringify({ url, headers, body, session: { sid: SECRET } }),
  }));
  const urls = [
    `${base}/${SECRET}`,
    `${base}/?key=${SECRET}`,
    `http://user:${SECRET}@127.0.0.1/`,
    `http://${SECRET}.invalid/`,
    `https://${SECRET}.invalid/`,
    `http://127.0.0.1:9/${SECRET}`,
    `ftp://127.0.0.1/${SECRET}`,
    `${SECRET} is not an address`,
    `${SECRET}\nsecond line`,
    `https://[${SECRET}`,
    `${SECRET}\u0000`,
  ];
  const forms = ["json", "slack", "discord", "ntfy", "healthchecks"];
  const project = new HookProject(t, []);
  project.write("t.token", SECRET);
  project.write("bad.token", `${SECRET} \u001b two`);
  const hooks = urls.flatMap((url, index) => {
    project.write(`${index}.url`, url);
    const as = forms[index % forms.length]!;
    const on = as === "healthchecks" ? {} : { on: ["published", "refused"] };
    return ["t.token", "bad.token"].map((token) => ({
      post: `${index}.url`,
      as,
      token_file: token,
      timeout: "2s",
      ...on,
    }));
  });
  const apis = ["pi-hole", "technitium", "adguard-home"].map((reload) => ({
    reload,
    url: base,
    token_file: "t.token",
    ...(reload === "adguard-home" && { user: "admin" }),
  }));
  project.hooks([...hooks, ...apis]);
  let all = "";
  for (const words of [["--debug"], ["--json"], ["--verbose"]]) {
    const { exit, stdout, stderr } = await project.run(
      "-c",
      "c.json",
      "--permit",
      "hooks",
      ...words,
    );
    assert.equal(exit, 0);
    all += stdout + stderr;
    project.lines(["||one.example^", `||${words[0]!.slice(2)}.example^`]);
  }
  project.lines(BAD);
  const refused = await project.run("-c", "c.json", "--permit", "hooks", "--json");
  assert.equal(refused.exit, 5);
  all += refused.stdout + refused.stderr;
  assert.ok(received.length > 10);
  assert.ok(received.some(({ headers }) => headers["authorization"] === `Bearer ${SECRET}`));
  assert.ok(all.split("hook-failed").length > 30);
  assert.ok(!all.toLowerCase().includes(SECRET), all);
  const files = filesOf(project.folder);
  assert.ok(files.some(({ name }) => name.endsWith(".hooks.json")));
  for (const { name, text } of files) assert.ok(!text.includes(SECRET), name);
});
