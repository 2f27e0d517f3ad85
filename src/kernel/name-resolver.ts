import type { Chunk } from "../rules/chunk.ts";
import { NamesByScript } from "./names-by-script.ts";
import { NamesByWasm } from "./names-by-wasm.ts";
import type { Room } from "./room.ts";

export interface NameOptions {
  /** What lost modifiers (`Flag.Widened`) covers only what lost some too. */
  readonly separatesWidened: boolean;
  /**
   * Whether the rule for this name will still be there at the end; asked of those that would cover others. The text of
   * the rule is `||name^` unless `isVerbatim` says that its own was asked about before.
   */
  survives(name: Uint8Array, isPlain: boolean, isVerbatim: boolean): boolean;
  /** Whether ordinary names all survive; asked after the last chunk. Saves asking of each. */
  ordinarySurvive(): boolean;
  /** Whether the rule's own text, which is not `||name^`, is why it will not be there. Without it no text is. */
  readonly losesByText?: ((chunk: Chunk, row: number) => boolean) | undefined;
}

/**
 * Finds, among the live rules of `Kind.Block`, those for a name that an earlier one blocks (`Fate.SameHost`), then those of
 * which a surviving rule blocks a parent domain (`Fate.Covered`, by the widest such rule).
 */
export interface NameResolver {
  /** The chunks of the list, in order. Live rows of ordinary names become rules for them. */
  add(chunk: Chunk): void;
  /** After the last one, before the first `apply`. */
  resolve(): void;
  /** Drops the chunk's redundant rows. */
  apply(chunk: Chunk): void;
  close(): void;
}

export function nameResolver(options: NameOptions, room: Room): NameResolver {
  const { kernel } = room;
  return kernel === undefined ? new NamesByScript(options) : new NamesByWasm(options, room, kernel);
}
