import { KernelArea } from "./kernel-area.ts";
import { KernelMemory } from "./kernel-memory.ts";

const STEP = 16;

/** Writes lines for many names with the kernel, in its own memory. */
export class NameExpander {
  private readonly kernel = new KernelMemory();
  private readonly areas = {
    names: new KernelArea(this.kernel),
    parts: new KernelArea(this.kernel),
    out: new KernelArea(this.kernel),
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
    const isMoved = areas.names.need(names.length + STEP);
    if (isMoved || names !== this.lastNames) {
      kernel.bytes(areas.names.at, names.length).set(names);
      this.lastNames = names;
    }
    areas.out.need(names.length * places + count * fixed + 2 * STEP);
    this.setParts(parts);
    const { at } = areas.out;
    const end = kernel.exports.expandNames(areas.names.at, count, areas.parts.at, places, at) >>> 0;
    return kernel.bytes(at, end - at);
  }

  private setParts(parts: readonly Uint8Array[]): void {
    const { kernel, areas } = this;
    const sizes = parts.map(({ length }) => STEP + Math.ceil(length / STEP) * STEP);
    areas.parts.need(sizes.reduce((sum, size) => sum + size, STEP));
    let { at } = areas.parts;
    for (const [index, part] of parts.entries()) {
      kernel.words(at, 1)[0] = part.length;
      kernel.bytes(at + STEP, part.length).set(part);
      at += sizes[index]!;
    }
  }
}
