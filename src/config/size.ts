/** Bytes of `256M`, `2G`, `500k` or a plain number; undefined if the text is invalid. */
export function sizeBytes(text: string): number | undefined {
  const { digits, unit } = /^(?<digits>\d{1,12})(?<unit>[kmg]?)(?:i?b)?$/i.exec(text)?.groups ?? {};
  if (digits === undefined || Number(digits) === 0) return undefined;
  return Number(digits) * 1024 ** " kmg".indexOf((unit || " ").toLowerCase());
}
