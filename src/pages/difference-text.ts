import { numberText } from "../diagnostics/number-text.ts";

/** `+1,250`, `−3` or `0`. */
export function differenceText(before: number, now: number): string {
  return signed(now - before, numberText(Math.abs(now - before)));
}

/** `+0.5 %`; empty if there was nothing before. */
export function percentText(before: number, now: number): string {
  if (before === 0) return "";
  const percent = (now / before - 1) * 100;
  const text = Math.abs(percent).toFixed(1);
  return text === "0.0" ? "less than 0.1 %" : signed(percent, `${text} %`);
}

function signed(value: number, text: string): string {
  if (value === 0) return "0";
  return `${value < 0 ? "−" : "+"}${text}`;
}
