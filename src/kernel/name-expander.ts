import { KernelMemory } from "./kernel-memory.ts";

const STEP = 16;

/** MemoryBudget that is taken again for every block. */
interface Area {
  at: number;
  size: number;
}

/** Writes lines for many names by the kernel, in a memory of its own. */
export class NameExpander {
  private readonly kernel = new KernelMemory();
  private readonly areas = {
    names: { at: 0, size: 0 },
    parts: { at: 0, size: 0 },
    out: { at: 0, size: 0 },
  };
  private lastNames: Uint8Array | undefined;

  /**
   * The lines for the first names of a block, which each have a line feed behind them. `parts` are the texts before, between and
   * behind the places of a name. The bytes are good until the next call; those of `names` must not change between two calls with the
   * same.
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
    // What lies elsewhere now has to be put there again.
    if (area === this.areas.names) this.lastNames = undefined;
  }
}
