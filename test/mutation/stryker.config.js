import process from "node:process";

/** Mutation tests by Stryker: `npm run test:mutation`, or one part with `PART=guards npm run test:mutation`. */
const PARTS = {
  guards: {
    mutate: ["src/builder/guards/*.ts", "src/meaning/{name-matcher,verdict}.ts"],
    tests: ["guard-limits", "guards", "allow"],
  },
  publish: {
    mutate: ["src/publish/{list-file,output-lock}.ts"],
    tests: ["publish", "output-lock"],
  },
  trust: {
    mutate: ["src/transformations/trust.ts", "src/syntax/{trust,name-pattern,width-trial}.ts"],
    tests: ["trust-limits", "trust", "guards"],
  },
};

const parts =
  process.env["PART"] === undefined ? Object.values(PARTS) : [PARTS[process.env["PART"]]];
const tests = new Set(parts.flatMap((part) => part.tests));

// oxlint-disable-next-line import/no-default-export -- Stryker reads it
export default {
  mutate: parts.flatMap((part) => part.mutate),
  testRunner: "command",
  commandRunner: {
    command: `node --test ${[...tests].map((name) => `test/*/${name}*.test.ts`).join(" ")}`,
  },
  // TypeScript 7 has no JavaScript API; the tests run the sources directly.
  tsconfigFile: "none",
  ignorePatterns: [
    "/dist",
    "/site",
    "/bench",
    "/docs",
    "/deploy",
    "/kernel",
    "/test/artifacts",
    "/test/oracle",
    "/test/tools",
  ],
  concurrency: 2,
  reporters: ["clear-text", "progress-append-only"],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  tempDirName: ".tmp/stryker",
  thresholds: { high: 90, low: 85, break: 85 },
};
