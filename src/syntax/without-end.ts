/** Removes trailing marks from a text. An expression such as `/[|^]+$/` would take quadratic time. */
export function withoutEnd(text: string, marks: string): string {
  let end = text.length;
  while (end > 0 && marks.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}
