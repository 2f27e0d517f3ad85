/** A moment as people read it, to the minute. */
export function momentText(moment: number | string): string {
  return `${new Date(moment).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
