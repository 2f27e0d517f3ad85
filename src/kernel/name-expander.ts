import { KernelMemory } from "./kernel-memory.ts";

const STEP = 16;

/** Memory that every block reuses. */
interface Area {
  at: number;
  size: number;
}

/** Writes lines for many names with the kernel, in its own memory. */
export class NameExpander {
  private readonly kernel = new KernelMemory();
  private readonly areas = {
    names: { at: 0, size: 0 },
    parts: { at: 0, size: 0 },
    out: { at: 0, size: 0 },
  };
  private lastNames: Uint8Array | undefined;

  /**
   * Returns the lines for the first `count` names of a block, in which a line feed follows each name. `parts` are the
   * texts before, between and after the places of the name. The result is valid until the next call. Do not change `names`
   * between two calls with the same array.
   */
  expand(parts: readonly Uint8Array[], names: Uint8Array, count: number): Uint8Array {
    const { kernel, areas } = this;
    const places = parts.length - 1;
    const fixed = parts.reduce((sum, part) => sum + part.length, 0);
    if (names !== this.lastNames) {
      this.need(areas.names, names.length + STEP);
      kernel.bytes(areas.names.at, names.length).set(names);
      this.lastNames = names;
    }
    this.need(areas.out, names.length * places + count * fixed + 2 * STEP);
    this.setParts(parts);
    const { at } = areas.out;
    const end = kernel.exports.expandNames(areas.names.at, count, areas.parts.at, places, at) >>> 0;
    return kernel.bytes(at, end - at);
  }

  private setParts(parts: readonly Uint8Array[]): void {
    const { kernel, areas } = this;
    const sizes = parts.map(({ length }) => STEP + Math.ceil(length / STEP) * STEP);
    this.need(
      areas.parts,
      sizes.reduce((sum, size) => sum + size, STEP),
    );
    let { at } = areas.parts;
    for (const [index, part] of parts.entries()) {
      kernel.words(at, 1)[0] = part.length;
      kernel.bytes(at + STEP, part.length).set(part);
      at += sizes[index]!;
    }
  }

  private need(area: Area, size: number): void {
    if (area.size >= size) return;
    if (area.size > 0) this.kernel.free(area.at, area.size);
    area.at = this.kernel.allocate(size);
    area.size = size;
    // The area moved, so the names must be copied again.
    if (area === this.areas.names) this.lastNames = undefined;
  }
}
