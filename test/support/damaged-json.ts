import { encodeUtf8 } from "../../src/bytes/text.ts";
import type { Random } from "./random.ts";

export interface Damage {
  readonly name: string;
  readonly bytes: Uint8Array;
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** What may stand where something else belongs. */
const STRANGERS: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1e308,
  0.5,
  "",
  "x",
  "2199-01-01T00:00:00.000Z",
  "+275760-09-13T00:00:00.000Z",
  "-000001-01-01T00:00:00.000Z",
  [],
  [null],
  {},
  { length: 9 },
  JSON.parse('{"__proto__":{"a":1},"constructor":null,"toString":1}') as Json,
];

/** Every field replaced by everything else and left out, every cut, and bytes flipped at random. */
export function damagesOf(state: object, random: Random): Damage[] {
  const text = JSON.stringify(state);
  const damages: Damage[] = [];
  for (const path of pathsIn(JSON.parse(text) as Json, [])) {
    const where = path.join(".");
    for (const stranger of STRANGERS)
      damages.push(changed(text, path, `${where} = ${JSON.stringify(stranger)}`, stranger));
    damages.push(changed(text, path, `${where} left out`, undefined));
  }
  for (let count = 0; count < 500; count++) {
    const at = random.below(text.length);
    damages.push({ name: `cut at ${at}`, bytes: encodeUtf8(text.slice(0, at)) });
    const bytes = encodeUtf8(text);
    bytes[at] = random.below(256);
    damages.push({ name: `byte ${at} flipped`, bytes });
  }
  for (const whole of ["", "null", "[]", "0", '"x"', "{}", "{", "\0", '{"version":1}'])
    damages.push({ name: whole, bytes: encodeUtf8(whole) });
  return damages;
}

/** Of arrays the first and the last; the others are alike. */
function pathsIn(value: Json, path: readonly string[]): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  const keys = Object.keys(value);
  const chosen = Array.isArray(value) && keys.length > 2 ? [keys[0]!, keys.at(-1)!] : keys;
  const below = chosen.flatMap((key) =>
    pathsIn((value as Record<string, Json>)[key]!, [...path, key]),
  );
  return path.length === 0 ? below : [path, ...below];
}

function changed(
  text: string,
  path: readonly string[],
  name: string,
  value: Json | undefined,
): Damage {
  const root = JSON.parse(text) as Record<string, Json>;
  let holder: Record<string, Json> = root;
  for (const key of path.slice(0, -1)) holder = holder[key] as Record<string, Json>;
  if (value === undefined) delete holder[path.at(-1)!];
  else holder[path.at(-1)!] = value;
  return { name, bytes: encodeUtf8(JSON.stringify(root)) };
}
