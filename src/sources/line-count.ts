import { endsLine } from "../syntax/text-block.ts";
import type { LineSink } from "./source-list.ts";

/** Counts lines without keeping them, so that later problems have the right line number. */
export const LINE_COUNT: LineSink = {
  begin: () => ({ origin: 0, nextLine: 1 }),
  read(file, { bytes }, { start, end }) {
    for (let at = start + 1; at <= end; at++) if (endsLine(bytes, at)) file.nextLine++;
  },
  nextLine: (file) => file.nextLine,
  blank() {},
};
