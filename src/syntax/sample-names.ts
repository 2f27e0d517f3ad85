import { NamesByText } from "./names-by-text.ts";

/** Words and endings of typical names on the internet, not taken from any list. */
const WORDS =
  "shop news mail cloud bank video photo music travel forum garden school health weather sport radio game store blog maps search learn green river stone north early quick silver market studio energy global union trust point bridge harbor window letter number summer winter orange violet planet signal".split(
    " ",
  );
const ENDINGS =
  "com net org de uk fr it es nl pl ru jp cn in br au ca ch at se no fi dk cz io dev app info biz eu us".split(
    " ",
  );

/**
 * Three hundred names that blocklists do not target. A rule that matches more than one in a hundred of them would block
 * far too much.
 */
let names: readonly string[] | undefined;

export function sampleNames(): readonly string[] {
  names ??= Array.from({ length: 300 }, (_, index) => {
    const word = WORDS[(index * 7) % WORDS.length]!;
    const other = WORDS[(index * 13 + 5) % WORDS.length]!;
    const ending = ENDINGS[(index * 11) % ENDINGS.length]!;
    const base = index % 3 === 0 ? `${word}${other}` : index % 3 === 1 ? word : `${word}-${index}`;
    const inFront = ["", "www.", `${other}.`, "api-1."][index % 4]!;
    return `${inFront}${base}.${ending}`;
  });
  return names;
}

/** Resolvers also filter answers by address: a rule for all addresses blocks every name. */
const ADDRESSES: readonly string[] = Array.from({ length: 40 }, (_, index) =>
  index % 4 === 3
    ? `2a0${index % 10}:${(index * 977).toString(16)}::${(index * 31).toString(16)}`
    : [11 + index * 5, (index * 37) % 256, (index * 91) % 256, (index * 53) % 256].join("."),
);

/** This many may match by chance: one name in a hundred, and a quarter of the addresses. */
const MOST_NAMES = 3;
const MOST_ADDRESSES = 10;

let indexes: readonly (readonly [NamesByText, number])[] | undefined;

/**
 * Whether a rule matches too many sample names or addresses. Tests only candidates that contain all `texts`, without which
 * the rule cannot match. Undefined if `mayTry` rejects the number of candidates.
 */
export function matchesTooMany(
  test: (name: string) => boolean,
  texts: readonly string[] = [],
  mayTry: (count: number) => boolean = () => true,
): boolean | undefined {
  indexes ??= [
    [new NamesByText(sampleNames()), MOST_NAMES],
    [new NamesByText(ADDRESSES), MOST_ADDRESSES],
  ];
  for (const [index, most] of indexes) {
    const some = index.candidates(texts);
    if (some.length <= most) continue;
    if (!mayTry(some.length)) return undefined;
    let left = most;
    for (const name of some) if (test(name) && --left < 0) return true;
  }
  return false;
}
