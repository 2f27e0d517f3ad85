import { Buffer } from "./buffer.ts";

/** As much of `node:crypto` as the engine uses: digests that are made at once, which the browser's own interface cannot do. */

const BLOCK = 64;
const rotated = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

interface Algorithm {
  readonly start: readonly number[];
  block(state: Int32Array, words: Int32Array): void;
}

/** The first bits of the fractional parts of roots of the first primes, as FIPS 180-4 defines the constants. */
function rootsOfPrimes(count: number, root: (prime: number) => number): number[] {
  const primes: number[] = [];
  for (let one = 2; primes.length < count; one++)
    if (primes.every((prime) => one % prime !== 0)) primes.push(one);
  return primes
    .map((prime) => (root(prime) % 1) * 2 ** 32) // floor happens in Int32Array
    .map((value) => Math.floor(value) | 0);
}

const K256 = rootsOfPrimes(64, Math.cbrt);

const sha256: Algorithm = {
  start: rootsOfPrimes(8, Math.sqrt),
  block(state, words) {
    for (let at = 16; at < 64; at++) {
      const [near, far] = [words[at - 2]!, words[at - 15]!];
      const s0 = rotated(far, 7) ^ rotated(far, 18) ^ (far >>> 3);
      const s1 = rotated(near, 17) ^ rotated(near, 19) ^ (near >>> 10);
      words[at] = words[at - 16]! + s0 + words[at - 7]! + s1;
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    for (let at = 0; at < 64; at++) {
      const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K256[at]! + words[at]!) | 0;
      const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    const sums = [a, b, c, d, e, f, g, h];
    for (let at = 0; at < 8; at++) state[at]! += sums[at]!;
  },
};

const sha1: Algorithm = {
  start: [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0],
  block(state, words) {
    for (let at = 16; at < 80; at++)
      words[at] = rotated(words[at - 3]! ^ words[at - 8]! ^ words[at - 14]! ^ words[at - 16]!, 31);
    let [a, b, c, d, e] = state as unknown as [number, number, number, number, number];
    for (let at = 0; at < 80; at++) {
      const [mixed, constant] =
        at < 20
          ? [(b & c) | (~b & d), 0x5a827999]
          : at < 40
            ? [b ^ c ^ d, 0x6ed9eba1]
            : at < 60
              ? [(b & c) | (b & d) | (c & d), 0x8f1bbcdc]
              : [b ^ c ^ d, 0xca62c1d6];
      const next = (rotated(a, 27) + mixed + e + constant + words[at]!) | 0;
      e = d;
      d = c;
      c = rotated(b, 2);
      b = a;
      a = next;
    }
    const sums = [a, b, c, d, e];
    for (let at = 0; at < 5; at++) state[at]! += sums[at]!;
  },
};

const ALGORITHMS = new Map([
  ["sha256", sha256],
  ["sha1", sha1],
]);

export class Hash {
  private readonly algorithm: Algorithm;
  private readonly state: Int32Array;
  private readonly words = new Int32Array(80);
  private readonly rest = new Uint8Array(BLOCK);
  private readonly view = new DataView(this.rest.buffer);
  private length = 0;

  constructor(algorithm: Algorithm) {
    this.algorithm = algorithm;
    this.state = Int32Array.from(algorithm.start);
  }

  update(data: string | Uint8Array): this {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
    for (let at = 0; at < bytes.length;) {
      const used = this.length % BLOCK;
      const part = bytes.subarray(at, at + BLOCK - used);
      this.rest.set(part, used);
      this.length += part.length;
      at += part.length;
      if (this.length % BLOCK === 0) this.mix();
    }
    return this;
  }

  digest(): Buffer;
  digest(text: "hex" | "base64"): string;
  digest(text?: "hex" | "base64"): Buffer | string {
    const bits = this.length * 8;
    this.update(new Uint8Array([0x80]));
    while (this.length % BLOCK !== BLOCK - 8) this.update(new Uint8Array(1));
    const end = new DataView(new ArrayBuffer(8));
    end.setUint32(0, Math.floor(bits / 2 ** 32));
    end.setUint32(4, bits % 2 ** 32);
    this.update(new Uint8Array(end.buffer));
    const bytes = new DataView(new ArrayBuffer(this.state.length * 4));
    for (const [at, word] of this.state.entries()) bytes.setInt32(at * 4, word);
    const digest = Buffer.from(bytes.buffer);
    return text === undefined ? digest : digest.toString(text);
  }

  private mix(): void {
    for (let at = 0; at < 16; at++) this.words[at] = this.view.getInt32(at * 4);
    this.algorithm.block(this.state, this.words);
  }
}

export function createHash(name: string): Hash {
  const algorithm = ALGORITHMS.get(name);
  if (algorithm === undefined) throw new Error(`this page has no ${name}`);
  return new Hash(algorithm);
}

function absent(): never {
  throw new Error("this page signs nothing");
}
export {
  absent as createPrivateKey,
  absent as createPublicKey,
  absent as randomBytes,
  absent as sign,
  absent as verify,
};
