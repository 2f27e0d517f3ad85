import { ByteBuffer, decodeUtf8, encodeUtf8 } from "../../bytes/text.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { printable } from "../../diagnostics/text.ts";
import type { NewFile, Scratch } from "../../host/host.ts";
import { CdbWriter, dnsdistLua, textKey, wireKey } from "../cdb.ts";
import { commentHeader } from "../name-format.ts";
import type { Losses } from "../special-rule.ts";

/**
 * A constant database whose values say what lists block a name. The closest entry decides, so an entry contains what lists say
 * about its parents, and is left out if it says the same.
 */
export const combinedCdb: CombinedFormat = {
  usedBy: "dnsdist",
  // The rules first: a restart that meets the new database with the old ones would not know its lists.
  files: [{ ending: ".lua" }, { ending: "", isPolled: true }],
  // dnsdist knows a list by its place until it is restarted.
  keepsPlaces: true,
  write({ lists, names }, { files: [lua, file], name, openScratch }) {
    lua!.write(encodeUtf8(dnsdistLua(lists.map((list) => list?.name))));
    const writer = new CdbWriter(file!, openScratch);
    const digits = new ListDigits(lists.length);
    const key = new Uint8Array(512);
    try {
      for (const { bytes, start, end, self, below, inherited } of names()) {
        if (!isEqual(below, inherited))
          writer.add(key, wireKey(bytes, start, end, key), digits.of(below));
        if (!isEqual(self, below))
          writer.add(key, textKey(bytes, start, end, key), digits.of(self));
      }
      if (writer.isFull)
        throw new CompilerError([
          errorOf("database-too-large", `${printable(name)} would have more than 4 GiB`),
        ]);
      writer.finish();
      return writer.count;
    } finally {
      writer.close();
    }
  },
};

/** A hexadecimal digit for every four lists, the first lists first; digits at the end that are 0 are left out. */
class ListDigits {
  private readonly digits: Uint8Array;

  constructor(lists: number) {
    this.digits = new Uint8Array(Math.max(1, Math.ceil(lists / 4)));
  }

  /** Valid until the next call. */
  of(lists: ListBits): Uint8Array {
    const { digits } = this;
    let length = 1;
    for (let place = 0; place < digits.length; place++) {
      const digit = (lists[place >>> 3]! >>> (4 * (place & 7))) & 15;
      digits[place] = digit < 10 ? DIGIT_0 + digit : LETTER_A + digit - 10;
      if (digit !== 0) length = place + 1;
    }
    return digits.subarray(0, length);
  }
}

const DIGIT_0 = 48;
const LETTER_A = 97;

function isEqual(one: ListBits, other: ListBits): boolean {
  for (let word = 0; word < one.length; word++) if (one[word] !== other[word]) return false;
  return true;
}

const BLOCK = 1024 * 1024;

/**
 * unbound looks for the most specific zone that has a tag of the client, and goes up to the parents if it has none. So a zone needs
 * the tags of the lists with a rule for its name, but not those of lists that have a rule for a parent.
 */
export const unboundTags: CombinedFormat = {
  usedBy: "unbound",
  files: [{ ending: "" }],
  write({ lists, header, names }, { files: [file], losses }) {
    const known = lists.map((list) => list?.tag ?? "");
    const tags = new TagTexts(known);
    const all = known.join(" ");
    const head = [
      ...commentHeader("#")({ lines: header, serial: 0 }),
      "# Clients get lists by tags, such as:",
      `#   access-control-tag: 192.0.2.0/24 "${known[0] ?? ""}"`,
      "server:",
      `define-tag: "${all}"`,
    ];
    const out = new ByteBuffer(BLOCK + 1024);
    const add = (bytes: Uint8Array): number => out.append(bytes, 0, bytes.length);
    add(encodeUtf8(head.map((line) => `${line}\n`).join("")));
    // Many zones before their tags: unbound then needs 2 % less memory, because the pieces that it allocates fit better.
    const tagLines = new ByteBuffer(BLOCK + 1024);
    const flush = (): void => {
      for (const lines of [out, tagLines]) {
        file!.write(lines.view());
        lines.length = 0;
      }
    };
    let count = 0;
    const zone = new Zone(lists.length);
    for (const entry of names()) {
      zone.choose(entry);
      const { bytes, start, end } = entry;
      if (zone.isInexact) losses.add(zone.loss, decodeUtf8(bytes, start, end));
      if (!zone.hasTags) continue;
      count++;
      add(OPENINGS[zone.form]);
      out.append(bytes, start, end);
      add(CLOSINGS[zone.form]);
      // Without a zone of its own, the data would be in the zone of a parent, with the tags of that.
      if (zone.form === "alone") {
        add(DATA_OPENING);
        out.append(bytes, start, end);
        add(DATA_CLOSING);
      }
      const tagged = tags.of(zone.tags);
      tagLines.append(TAG_OPENING, 0, TAG_OPENING.length);
      tagLines.append(bytes, start, end);
      tagLines.append(tagged, 0, tagged.length);
      if (out.length >= BLOCK) flush();
    }
    flush();
    return count;
  },
};

type ZoneForm = "block" | "alone" | "allow";

const OPENINGS: Readonly<Record<ZoneForm, Uint8Array>> = {
  block: encodeUtf8('local-zone: "'),
  alone: encodeUtf8('local-zone: "'),
  allow: encodeUtf8('local-zone: "'),
};
const CLOSINGS: Readonly<Record<ZoneForm, Uint8Array>> = {
  block: encodeUtf8('." always_nxdomain\n'),
  // The data follows. The names below it are resolved as usual.
  alone: encodeUtf8('." transparent\n'),
  allow: encodeUtf8('." always_transparent\n'),
};
const DATA_OPENING = encodeUtf8('local-data: "');
const DATA_CLOSING = encodeUtf8('. A 0.0.0.0"\n');
const TAG_OPENING = encodeUtf8('local-zone-tag: "');

/** The only zone that a name can have. It never blocks more than a list, so exceptions go first. */
class Zone {
  form: ZoneForm = "alone";
  isInexact = false;
  loss: "conflict" | "exact" | "below" = "conflict";
  hasTags = false;
  readonly tags: Int32Array;

  constructor(lists: number) {
    this.tags = new Int32Array(Math.ceil(lists / 32));
  }

  choose({ self, below, allowSelf, allowBelow, own }: CombinedName): void {
    // Whether some list …
    let blocks = false; // … blocks the name and what is below it
    let blocksAlone = false;
    let blocksBelow = false;
    let frees = false;
    let freesBelow = false; // … blocks the name alone, with an exception below it
    for (let word = 0; word < own.length; word++) {
      const ours = own[word]!;
      const alone = self[word]! & ~below[word]! & ours;
      blocks ||= (self[word]! & below[word]! & ours) !== 0;
      blocksAlone ||= alone !== 0;
      // Names below it are blocked, the name itself is not: no zone can say that.
      blocksBelow ||= (~self[word]! & below[word]! & ours) !== 0;
      frees ||= (ours & ~self[word]! & (allowSelf[word]! | allowBelow[word]!)) !== 0;
      // Without a zone for them, their rules for parents would block the names below.
      freesBelow ||= (alone & allowBelow[word]!) !== 0;
    }
    this.form = frees ? "allow" : blocks && !freesBelow ? "block" : "alone";
    this.hasTags = false;
    let isConflict = false;
    let isExact = false;
    let isWider = false;
    for (let word = 0; word < own.length; word++) {
      const ours = own[word]!;
      const blocked = self[word]! & below[word]! & ours;
      const alone = self[word]! & ~below[word]! & ours;
      const freed = ours & ~self[word]! & (allowSelf[word]! | allowBelow[word]!);
      const allowed = freed | (alone & allowBelow[word]!);
      const tags =
        this.form === "allow" ? allowed : this.form === "block" ? blocked : alone | blocked;
      this.tags[word] = tags;
      this.hasTags ||= tags !== 0;
      isConflict ||= ((self[word]! | below[word]!) & ~freed) !== 0;
      isExact ||= (freed & below[word]!) !== 0;
      isWider ||= (below[word]! & ~alone) !== 0;
    }
    if (this.form === "allow") {
      this.isInexact = isConflict || isExact;
      this.loss = isConflict ? "conflict" : "exact";
      return;
    }
    this.isInexact = this.form === "block" ? blocksAlone || blocksBelow : isWider;
    this.loss = blocksBelow && !blocks && !blocksAlone ? "below" : "conflict";
  }
}

/** The end of a line with tags. There are few sets of lists. */
class TagTexts {
  private readonly texts = new Map<string, Uint8Array>();
  private readonly tags: readonly string[];

  constructor(tags: readonly string[]) {
    this.tags = tags;
  }

  of(bits: ListBits): Uint8Array {
    const key = bits.join();
    let text = this.texts.get(key);
    if (text === undefined) {
      const tags = this.tags.filter((_, index) => (bits[index >>> 5]! & (1 << (index & 31))) !== 0);
      this.texts.set(key, (text = encodeUtf8(`." "${tags.join(" ")}"\n`)));
    }
    return text;
  }
}

/** All formats for several lists, by their name in the configuration. */
export const combinedFormats: ReadonlyMap<string, CombinedFormat> = new Map([
  ["cdb", combinedCdb],
  ["unbound-tags", unboundTags],
]);

/** A bit for each list, in numbers of 32 bits; the first list is the lowest bit of the first number. */
type ListBits = Int32Array;

/**
 * What all lists say about one name. The rules for its parents are included, so the most specific entry of a name decides for every
 * list. A list that has no bit in `self` and `allowSelf` says nothing about the name.
 */
export interface CombinedName {
  /** The name is `bytes.subarray(start, end)`: lower-case letters, no final dot. It is valid until the next entry. */
  bytes: Uint8Array;
  start: number;
  end: number;
  /** Lists that block the name, and lists that block the names below it. */
  readonly self: ListBits;
  readonly below: ListBits;
  /** Lists that have an exception for the name, and for the names below it. */
  readonly allowSelf: ListBits;
  readonly allowBelow: ListBits;
  /** Lists with a rule for this name. The other bits come from its parents. */
  readonly own: ListBits;
  /** What lists block below the closest parent that has rules; nothing without one. */
  readonly inherited: ListBits;
}

/** A list of a combined file. */
export interface CombinedListName {
  readonly name: string;
  /** Letters, digits and hyphens; unique. */
  readonly tag: string;
}

/** The names of several lists. */
interface CombinedSource {
  /** The lists, in the order of their bits. A list that was removed leaves an empty place, if the format keeps places. */
  readonly lists: readonly (CombinedListName | undefined)[];
  /** The header of the file, without comment signs. */
  readonly header: readonly string[];
  /** Every name once, in an order that depends only on the lists. */
  readonly names: () => Iterable<CombinedName>;
}

/** A file of a combined output: the ending of the configured path; "" is the path itself. */
export interface CombinedFile {
  readonly ending: string;
  /** Whether a program notices new files by their time in seconds, so that two must not have the same. */
  readonly isPolled?: true;
}

/** Where a combined format writes. */
interface CombinedTarget {
  /** The files of the format, in its order. They are published together, after `write`. */
  readonly files: readonly Pick<NewFile, "write" | "rewrite">[];
  /** The name of the output, for users. */
  readonly name: string;
  readonly losses: Losses;
  readonly openScratch: () => Scratch;
}

/** A format for several lists at once. */
interface CombinedFormat {
  readonly usedBy: string;
  /** The files of an output, in the order in which they are published. One of them has no ending. */
  readonly files: readonly CombinedFile[];
  /** Whether a list keeps its bit when lists are added and removed. */
  readonly keepsPlaces?: true;
  /** Writes all files, and returns the number of names. Throws a `CompilerError`. */
  write(source: CombinedSource, target: CombinedTarget): number;
}
