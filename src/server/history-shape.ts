import { DURATION_BUCKETS, type History, OUTCOMES, TRIGGERS } from "./history.ts";
import {
  type Shape,
  either,
  isAmount,
  isFlag,
  isMoment,
  isText,
  isWhole,
  listOf,
  objectOf,
  oneOf,
  recordOf,
} from "./shape.ts";

const PROBLEM = objectOf(
  { code: isText, message: isText },
  { hint: isText, cause: isText, at: isText },
);

const RUN = objectOf(
  {
    at: isMoment,
    trigger: oneOf(TRIGGERS),
    seconds: isAmount,
    exit: either(isWhole, oneOf([null])),
    outcome: oneOf(OUTCOMES),
  },
  {
    degraded: isFlag,
    rules: isAmount,
    bytes: isAmount,
    problem: PROBLEM,
    further: listOf(PROBLEM),
    isOver: isFlag,
  },
);

const SOURCE = objectOf(
  {
    label: isText,
    source: isText,
    state: oneOf([
      "local",
      "fetched",
      "unchanged",
      "locked",
      "offline",
      "stale",
      "held",
      "dropped",
    ]),
    bytes: isAmount,
    lines: isAmount,
    kept: isAmount,
    dropped: recordOf(isAmount),
  },
  { goodAt: isMoment },
);

const BUILD = objectOf(
  {
    name: isText,
    sources: listOf(SOURCE),
    lines: isAmount,
    kept: isAmount,
    rules: isAmount,
    bytes: isAmount,
    degraded: isFlag,
    outputs: listOf(objectOf({ file: isText }, { files: listOf(isText), names: isAmount })),
  },
  { lists: listOf(objectOf({ name: isText, file: isText, rules: isAmount })) },
);

const HISTORY: Shape = objectOf(
  {
    version: oneOf([1]),
    runs: listOf(RUN),
    totals: objectOf(Object.fromEntries(OUTCOMES.map((outcome) => [outcome, isAmount]))),
    refusals: recordOf(isAmount),
    skipped: isAmount,
    seconds: objectOf({ sum: isAmount, buckets: listOf(isAmount, DURATION_BUCKETS.length) }),
    goodAt: recordOf(isMoment),
  },
  {
    lastSuccess: isMoment,
    lastBuild: BUILD,
    lastRefusal: RUN,
    lastSources: listOf(SOURCE),
    timeouts: isAmount,
  },
);

/** Checks every field, because another program or a disk failure may have changed the file. */
export function isHistory(found: unknown): found is History {
  return HISTORY(found);
}
