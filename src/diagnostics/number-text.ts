export function numberText(value: number): string {
  // Not `toLocaleString`: its first call loads the locale data, 20 ms.
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `1 rule`, `2 rules`. */
export function countText(count: number, noun: string): string {
  return `${numberText(count)} ${noun}${count === 1 ? "" : "s"}`;
}
