/** So many rows become one string, which takes less memory than separate ones. */
const BLOCK_ROWS = 1024;

/** Keeps short texts without line feeds, in order, in about as many bytes as they have characters. */
export class HeldRows {
  private readonly blocks: string[] = [];
  private last: string[] = [];

  add(row: string): void {
    this.last.push(row);
    if (this.last.length < BLOCK_ROWS) return;
    this.blocks.push(this.last.join("\n"));
    this.last = [];
  }

  *all(): Generator<string> {
    for (const block of this.blocks) yield* block.split("\n");
    yield* this.last;
  }
}
