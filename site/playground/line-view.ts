import type { ShownLine } from "./calls.ts";
import { element } from "./element.ts";

const ROW = 20;
/** Browsers do not lay out elements higher than this. Beyond it, a pixel stands for several rows. */
const MOST_PIXELS = 8_000_000;
/** Longer lines are cut: nobody reads them, and layout would take long. */
const MOST_TEXT = 500;

type Rows = (from: number, count: number) => Promise<readonly ShownLine[]>;

/** Shows a few of any number of lines: those that are scrolled to. */
export class LineView {
  private readonly box: HTMLElement;
  private readonly sheet = element("div", { class: "sheet" });
  private readonly space = element("div", {});
  private readonly rows: Rows;
  private count = 0;
  private turn = 0;
  private isWaiting = false;

  constructor(box: HTMLElement, rows: Rows) {
    this.box = box;
    this.rows = rows;
    box.replaceChildren(this.sheet, this.space);
    box.addEventListener("scroll", () => this.later(), { passive: true });
    new ResizeObserver(() => this.later()).observe(box);
  }

  /** Shows other lines, from the first one. */
  show(count: number, nothing: string): void {
    this.count = count;
    this.turn++;
    // A short list needs no high box; the rest is for a horizontal bar.
    this.box.style.maxHeight = `${Math.max(3, count) * ROW + 18}px`;
    this.box.scrollTop = 0;
    this.box.scrollLeft = 0;
    this.sheet.replaceChildren(...(count === 0 ? [element("p", {}, nothing)] : []));
    this.later();
  }

  private later(): void {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      void this.draw();
    });
  }

  private async draw(): Promise<void> {
    const { box, count } = this;
    if (count === 0 || box.clientHeight === 0) {
      this.space.style.height = "0";
      return;
    }
    const turn = ++this.turn;
    const fits = Math.floor(box.clientHeight / ROW);
    const height = Math.min(MOST_PIXELS, count * ROW);
    // The sheet is as high as the box and stays in view; the space below it makes the bar.
    this.space.style.height = `${Math.max(0, height - box.clientHeight)}px`;
    const most = Math.max(1, height - box.clientHeight);
    const last = Math.max(0, count - fits);
    const first = Math.min(last, Math.round((box.scrollTop / most) * last));
    const lines = await this.rows(first, fits);
    if (turn !== this.turn) return;
    this.sheet.style.height = `${box.clientHeight}px`;
    this.sheet.replaceChildren(...lines.map(row));
  }
}

function row({ line, text, fate, by }: ShownLine): HTMLElement {
  const cells = [element("span", { class: "number" }, String(line))];
  if (fate !== undefined) cells.push(element("span", { class: "fate" }, fate));
  cells.push(element("span", {}, text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text));
  if (by !== undefined) cells.push(element("span", { class: "by" }, `← ${by}`));
  return element("div", { class: fate === "kept" ? "line kept" : "line" }, ...cells);
}
