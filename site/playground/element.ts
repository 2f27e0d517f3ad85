/** An element with attributes and content. Text is always text: nothing from a list becomes markup. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>>,
  ...content: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

/** The element with an id, of a known kind. */
export function byId<Name extends keyof HTMLElementTagNameMap = "div">(
  id: string,
  _name?: Name,
): HTMLElementTagNameMap[Name] {
  return document.querySelector<HTMLElementTagNameMap[Name]>(`#${id}`)!;
}

export function numberText(value: number): string {
  return value.toLocaleString("en");
}

export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Saves a file of the page on the disk. */
export function download(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
