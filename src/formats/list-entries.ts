import { cancelledKey } from "../meaning/rule.ts";
import type { Entry } from "./entry-texts.ts";
import type { ListModel } from "./list-model.ts";

/** The rules of the list. Exceptions and `$badfilter` rules do not count as blocks: they are always kept. */
export function listEntries(model: ListModel): Entry[] {
  return model.otherTexts().map(({ text, source }) => ({
    text: `${text}\n`,
    source,
    of: text,
    blocks: !text.startsWith("@@") && cancelledKey(text) === undefined,
  }));
}
