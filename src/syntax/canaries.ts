/** Words and endings that names on the internet are made of, in no order and from no list. */
const WORDS =
  "shop news mail cloud bank video photo music travel forum garden school health weather sport radio game store blog maps search learn green river stone north early quick silver market studio energy global union trust point bridge harbor window letter number summer winter orange violet planet signal".split(
    " ",
  );
const ENDINGS =
  "com net org de uk fr it es nl pl ru jp cn in br au ca ch at se no fi dk cz io dev app info biz eu us".split(
    " ",
  );

/**
 * Three hundred names that no blocklist is about. A rule that matches more than one in a hundred of them would block far
 * too much.
 */
let names: readonly string[] | undefined;
let text: string | undefined;

export function canaries(): readonly string[] {
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

/** All of them in one text, a line each. */
export function canaryText(): string {
  text ??= canaries().join("\n");
  return text;
}

/** Answers are filtered by address too: a rule for all addresses blocks every name. */
const ADDRESSES: readonly string[] = Array.from({ length: 40 }, (_, index) =>
  index % 4 === 3
    ? `2a0${index % 10}:${(index * 977).toString(16)}::${(index * 31).toString(16)}`
    : [11 + index * 5, (index * 37) % 256, (index * 91) % 256, (index * 53) % 256].join("."),
);

/** Whether a rule takes in more than one canary in a hundred. */
export function matchesTooMany(test: (name: string) => boolean): boolean {
  const all = canaries();
  let left = all.length / 100;
  for (const name of all) if (test(name) && --left < 0) return true;
  return ADDRESSES.filter((address) => test(address)).length > ADDRESSES.length / 4;
}
