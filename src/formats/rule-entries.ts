import { patternExpression } from "../syntax/name-pattern.ts";
import { goExpression, isRegexText } from "../syntax/regex-rule.ts";
import type { Entry } from "./entry-texts.ts";
import { LineTemplate } from "./line-template.ts";
import type { ListModel } from "./list-model.ts";
import type { Losses } from "./losses.ts";
import type { FormatLines } from "./name-format.ts";
import type { PatternException } from "./pattern-exceptions.ts";

/** Whether a format can express all pattern exceptions of a list. */
export function canExpressPatterns(model: ListModel, lines: FormatLines): boolean {
  if (lines.rule !== undefined) return true;
  return (
    lines.allowRegex !== undefined &&
    model.exceptions.all.every((exception) => expressionOf(exception) !== undefined)
  );
}

/** The rules without names that a format can express. Expressions only if the file has all exceptions to them. */
export function ruleEntries(
  model: ListModel,
  lines: FormatLines,
  losses: Losses,
  hasAllExceptions: boolean,
): Entry[] {
  const entries: Entry[] = [];
  const { rule, regex, allowRegex } = lines;
  const hasPatterns = canExpressPatterns(model, lines) || model.exceptions.all.length === 0;
  const add = (
    template: readonly string[],
    text: string,
    kind: Pick<Entry, "source" | "of" | "blocks" | "isInAllowFile">,
  ): void => {
    entries.push({ text: new LineTemplate(template).text(text), isRule: true, ...kind });
  };
  const canBlock = regex !== undefined && hasPatterns && hasAllExceptions;
  for (const { text, source, reason, regex: written } of model.nameless) {
    const expression = canBlock && written !== undefined ? goExpression(written) : undefined;
    if (rule !== undefined)
      add(rule, JSON.stringify(text), { source, of: text, blocks: !text.startsWith("@@") });
    else if (expression !== undefined) add(regex!, expression, { source, of: text, blocks: true });
    else losses.add(model.expanded.has(text) ? "expanded" : reason, text);
  }
  if (hasPatterns)
    for (const exception of model.exceptions.all)
      if (rule !== undefined) {
        // Rewrites are among the rules without names already.
        if (exception.rewrite === undefined)
          add(rule, JSON.stringify(exception.text), {
            source: 0,
            of: exception.text,
            blocks: false,
          });
      } else
        add(allowRegex!, expressionOf(exception)!, {
          source: 0,
          of: exception.text,
          blocks: false,
          isInAllowFile: true,
        });
  return entries;
}

/** An exception as a regular expression. */
function expressionOf({ pattern, denied }: PatternException): string | undefined {
  if (denied.length > 0) return undefined;
  return isRegexText(pattern) ? goExpression(pattern.slice(1, -1)) : patternExpression(pattern);
}
