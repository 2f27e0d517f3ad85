import { ByteBuffer } from "../../bytes/byte-buffer.ts";
import { decodeUtf8, encodeUtf8 } from "../../bytes/utf8.ts";
import { commentHeader } from "../name-format.ts";
import type { CombinedFormat, CombinedName } from "./combined-format.ts";

const BLOCK = 1024 * 1024;

/**
 * unbound looks for the most specific zone that has a tag of the client, and goes up to the parents if it has none. So a zone needs
 * the tags of the lists with a rule for its name, but not those of lists that have a rule for a parent.
 */
export const unboundTags: CombinedFormat = {
  summary: "Every name once, with the tags of the lists that block it; clients get lists by tags.",
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
    for (const entry of names()) {
      const zone = zoneOf(entry);
      const { bytes, start, end } = entry;
      if (zone.isInexact) losses.add(zone.loss, decodeUtf8(bytes, start, end));
      if (zone.tags === 0) continue;
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

type Form = "block" | "alone" | "allow";

const OPENINGS: Readonly<Record<Form, Uint8Array>> = {
  block: encodeUtf8('local-zone: "'),
  alone: encodeUtf8('local-zone: "'),
  allow: encodeUtf8('local-zone: "'),
};
const CLOSINGS: Readonly<Record<Form, Uint8Array>> = {
  block: encodeUtf8('." always_nxdomain\n'),
  // The data follows. The names below it are resolved as usual.
  alone: encodeUtf8('." transparent\n'),
  allow: encodeUtf8('." always_transparent\n'),
};
const DATA_OPENING = encodeUtf8('local-data: "');
const DATA_CLOSING = encodeUtf8('. A 0.0.0.0"\n');
const TAG_OPENING = encodeUtf8('local-zone-tag: "');

interface Zone {
  readonly form: Form;
  readonly tags: number;
  readonly isInexact: boolean;
  readonly loss: "conflict" | "exact" | "below";
}

/** The only zone that a name can have. It never blocks more than a list, so exceptions go first. */
function zoneOf({ self, below, allowSelf, allowBelow, own }: CombinedName): Zone {
  const blocked = self & below & own;
  const alone = self & ~below & own;
  // Names below it are blocked, the name itself is not: no zone can say that.
  const onlyBelow = ~self & below & own;
  const freed = own & ~self & (allowSelf | allowBelow);
  /** Without a zone for them, their rules for parents would block the names below. */
  const freedBelow = alone & allowBelow;
  if (freed !== 0) {
    const tags = freed | freedBelow;
    const isConflict = ((self | below) & ~freed) !== 0;
    const isExact = (freed & below) !== 0;
    return {
      form: "allow",
      tags,
      isInexact: isConflict || isExact,
      loss: isConflict ? "conflict" : "exact",
    };
  }
  const loss = onlyBelow !== 0 && blocked === 0 && alone === 0 ? "below" : "conflict";
  if (blocked !== 0 && freedBelow === 0) {
    const isInexact = alone !== 0 || onlyBelow !== 0;
    return { form: "block", tags: blocked, isInexact, loss };
  }
  const isInexact = (below & ~alone) !== 0;
  return { form: "alone", tags: alone | blocked, isInexact, loss };
}

/** The end of a line with tags. There are few sets of lists. */
class TagTexts {
  private readonly texts = new Map<number, Uint8Array>();
  private readonly tags: readonly string[];

  constructor(tags: readonly string[]) {
    this.tags = tags;
  }

  of(bits: number): Uint8Array {
    let text = this.texts.get(bits);
    if (text === undefined) {
      const tags = this.tags.filter((_, index) => (bits & (1 << index)) !== 0);
      this.texts.set(bits, (text = encodeUtf8(`." "${tags.join(" ")}"\n`)));
    }
    return text;
  }
}
