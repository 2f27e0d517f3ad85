import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";

const PLUGIN = {
  transformations: {
    Shout: {
      rule: (text: string) => (text.includes("drop") ? undefined : text.replace("soft", "loud")),
    },
  },
  formats: { mine: { extension: ".mine", comment: ";", lines: { exact: ["no %"] } } },
};

function projectOf(module: unknown, more: object = {}): MemoryProject {
  const config = {
    name: "L",
    plugins: ["p.mjs"],
    sources: [{ name: "a", source: "a.txt", type: "adblock" }],
    transformations: ["Shout", "RemoveComments", "Compress", "Validate"],
    ...more,
  };
  return new MemoryProject(
    {
      "compiler-config.json": JSON.stringify(config),
      "a.txt":
        "! about the next\n||drop.example^\n||soft.example^\n0.0.0.0 c.example\n||sub.loud.example^",
    },
    {
      importModule: async (path) => {
        assert.equal(path, "/project/p.mjs");
        if (module instanceof Error) throw module;
        return { default: module };
      },
    },
  );
}

test("a transformation of one's own comes first, and what it makes is judged as any other", async () => {
  const project = projectOf(PLUGIN, { outputs: [{ format: "mine" }] });
  const { exit, stderr } = await project.run("--permit", "plugins");
  assert.equal(exit, 0, stderr);
  assert.match(project.text("rules/l.txt"), /\n\|\|loud\.example\^\n\|\|c\.example\^$/);
  assert.match(stderr, /own 1/);
  assert.match(project.text("rules/l.mine"), /^; [^]*\nno c\.example\n|^; [^]*no loud\.example\n/);
  const why = await project.run("why", "--permit", "plugins", "drop.example");
  assert.match(why.stdout, /own, dropped by a plugin/);
});

test("modules are not run unless that is asked for", async () => {
  const project = projectOf(new Error("must not be run"));
  for (const words of [[], ["validate"], ["plan"]]) {
    const { exit, stderr } = await project.run(...words);
    assert.equal(exit, 2);
    assert.match(stderr, /plugins-off/);
  }
});

test("permissions are separated by commas or repeated, and an unknown one is an error", async () => {
  const project = projectOf(PLUGIN);
  for (const words of [["hooks,plugins"], ["paths", "--permit", "plugins, hooks"]]) {
    const { exit, stderr } = await project.run("validate", "--permit", ...words);
    assert.equal(exit, 0, stderr);
  }
  for (const word of ["pluggins", "hooks,plugin", ","]) {
    const { exit, stderr } = await project.run("--permit", word);
    assert.equal(exit, 2);
    assert.match(stderr, /--permit must be one of hooks, plugins, paths, not/);
    assert.equal(/Did you mean --permit plugins\?/.test(stderr), word !== ",", stderr);
  }
});

test("an invalid plugin is reported with its name, and nothing is published", async () => {
  for (const [module, said] of [
    [new Error("boom"), /plugin-bad[^]*p\.mjs cannot be loaded[^]*boom/],
    [{}, /plugin-bad/],
    [7, /plugin-bad/],
    [
      { transformations: { Compress: { rule: String } } },
      /there is a transformation Compress already/,
    ],
    [{ transformations: { Shout: {} } }, /Shout has no function/],
    [{ ...PLUGIN, formats: { hosts: PLUGIN.formats.mine } }, /the format hosts already exists/],
    [{ ...PLUGIN, formats: { x: { lines: { exact: ["no name"] } } } }, /plugin-bad/],
    [{ ...PLUGIN, formats: { x: { lines: { exactly: ["%"] } } } }, /plugin-bad/],
    [{ ...PLUGIN, formats: { x: null } }, /x is not a format/],
    [
      { transformations: { Shout: { rule: () => "0.0.0.0 a.example b.example" } } },
      /several names/,
    ],
    [
      {
        transformations: {
          Shout: {
            rule: () => {
              // oxlint-disable-next-line no-throw-literal, only-throw-error -- others do
              throw null;
            },
          },
        },
      },
      /plugin-failed/,
    ],
    [{ transformations: { Other: { rule: String } } }, /unknown-transformation[^]*Shout/],
    [{ transformations: { Shout: { rule: () => 7 } } }, /plugin-failed[^]*drop\.example/],
    [{ transformations: { Shout: { rule: () => "a\nb" } } }, /plugin-failed/],
    [
      {
        transformations: {
          Shout: {
            rule: () => {
              throw new Error("oops");
            },
          },
        },
      },
      /plugin-failed[^]*oops/,
    ],
  ] as const) {
    const project = projectOf(module);
    const { exit, stderr } = await project.run("--permit", "plugins");
    assert.equal(exit, 2, stderr);
    assert.match(stderr, said);
    assert.ok(!project.memory.files.has("/project/rules/l.txt"));
  }
});
