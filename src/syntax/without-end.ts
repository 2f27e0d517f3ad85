/** A text without those of the marks that it ends in. An expression such as `/[|^]+$/` takes the square of the text's length. */
export function withoutEnd(text: string, marks: string): string {
  let end = text.length;
  while (end > 0 && marks.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}
