export function numberText(value: number): string {
  // Not `toLocaleString`: its first call loads the locale data, 20 ms.
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `1 rule`, `2 rules`. */
export function countText(count: number, noun: string, plural: string = `${noun}s`): string {
  return `${numberText(count)} ${count === 1 ? noun : plural}`;
}
