import { CdbReader } from "../reference/cdb-reader.ts";
import { ListMatcher } from "../reference/list-matcher.ts";
import { projectOf } from "../lists-project.ts";
import { Random } from "../random.ts";
import { TaggedNames } from "../resolvers/tagged-names.ts";
import type { RandomList } from "./random-list.ts";

const LISTS = ["one", "two", "three"];

/** Files that say for each name which lists block it, beside the lists that are published with them. */
export async function checkCombined({ lines, names }: RandomList, seed: number): Promise<string[]> {
  const random = new Random(seed);
  const texts = LISTS.map((name) => [
    name,
    `||never.asked^\n${lines.map((line) => (random.chance(0.6) ? `${line}\n` : "")).join("")}`,
  ]);
  const project = projectOf(
    Object.fromEntries(texts) as Record<string, string>,
    LISTS.map((name) => ({ name, sources: [name] })),
    {
      transformations: random.pick([[], ["Compress"]]),
      combined: [
        { format: "unbound-tags", file: "tags.conf" },
        { format: "cdb", file: "all.cdb" },
      ],
    },
  );
  const { exit, stdout, stderr } = await project.run(
    "--json",
    "--no-cache",
    "--no-record",
    ...["too-few-rules", "blocks-suffix"].flatMap((code) => ["--accept", code]),
  );
  if (exit !== 0) return [`compile ends with ${exit}: ${stderr}`];
  const { combined } = JSON.parse(stdout) as {
    combined: { readonly format: string; readonly losses: readonly unknown[] }[];
  };
  const isReported = (format: string): boolean =>
    combined.some((one) => one.format === format && one.losses.length > 0);
  const tags = new TaggedNames(project.text("rules/tags.conf"));
  const cdb = new CdbReader(project.memory.files.get("/project/rules/all.cdb")!);
  return LISTS.flatMap((list, index) => {
    const matcher = ListMatcher.of(project.text(`rules/${list}.txt`));
    return names.flatMap((name) => {
      const { meaning, by } = matcher.decide(name);
      const said = {
        "unbound-tags": tags.isBlocked(name, [list]),
        cdb: cdb.isBlocked(name, index),
      };
      return Object.entries(said).flatMap(([format, isBlocked]) => {
        if (isBlocked === (meaning === "blocked")) return [];
        const where = `${name} in ${list} by ${by.map(({ text }) => text).join(" or ")}`;
        if (!isBlocked)
          return isReported(format)
            ? []
            : [`${format} misses a name and reports nothing: ${where}`];
        const isUnknowable =
          !matcher.names().has(name) &&
          by.length > 0 &&
          by.every(({ host, denied }) => host === undefined || denied.length > 0);
        // A response code without records is no answer either.
        const isUnanswered =
          meaning === "rewritten" && by.every(({ rewrite = "" }) => !rewrite.includes(" "));
        return isUnknowable || isUnanswered
          ? []
          : [`${format} blocks what the list means as ${meaning}: ${where}`];
      });
    });
  });
}
