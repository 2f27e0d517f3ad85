import type { Config } from "./config.ts";

interface Problem {
  readonly message: string;
  readonly hint: string;
}

/** Problems of `fit`. Ranks begin with 1: with less, every rule that blocks would be dropped. */
export function* fitProblems({ lists = [], ...top }: Config): Generator<Problem> {
  const levels = [{ ...top, at: "" }, ...lists.map((one, at) => ({ ...one, at: `lists[${at}].` }))];
  for (const { fit = {}, outputs = [], at } of levels) {
    if (fit.top !== undefined && fit.top < 1)
      yield {
        message: `${at}fit.top is ${fit.top}, which no name has as its rank`,
        hint: "Write 1 or more, or remove the field",
      };
    for (const key of Object.keys(fit))
      if (key !== "top")
        yield { message: `${at}fit.${key} is for outputs`, hint: "Move it to an entry of outputs" };
    for (const [index, output] of outputs.entries())
      if (output.fit?.top !== undefined)
        yield {
          message: `${at}outputs[${index}].fit.top is for lists`,
          hint: "Move it to the list; add an entry of lists for a smaller one",
        };
  }
}

/** Settings that need `ranks`, in a configuration without it. */
export function* unrankedProblems({ ranks = [], ...config }: Config): Generator<Problem> {
  if (ranks.length > 0) return;
  const levels = [config, ...(config.lists ?? [])];
  const used = [
    levels.some(({ fit }) => fit?.top !== undefined) && "fit.top",
    levels.some(({ guards }) => guards?.newly_blocks !== undefined) && "guards.newly_blocks",
  ];
  for (const what of used)
    if (what !== false)
      yield {
        message: `${what} needs ranks`,
        hint: "Add ranks: [top-1m.csv.zip], a list of popular names",
      };
}
