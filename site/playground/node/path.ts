/** As much of `node:path` as the engine uses, for POSIX paths. */

export const sep = "/";

export function isAbsolute(path: string): boolean {
  return path.startsWith(sep);
}

export function normalize(path: string): string {
  if (path === "") return ".";
  const parts: string[] = [];
  for (const part of path.split(sep)) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (!isAbsolute(path)) parts.push(part);
  }
  const end = path.endsWith(sep) && parts.length > 0 ? sep : "";
  const clean = `${isAbsolute(path) ? sep : ""}${parts.join(sep)}${end}`;
  return clean === "" ? (path.endsWith(sep) ? "./" : ".") : clean;
}

export function join(...parts: string[]): string {
  return normalize(parts.filter((part) => part !== "").join(sep));
}

/** The last absolute path and everything after it. The working directory of a page is the root. */
export function resolve(...parts: string[]): string {
  const start = parts.findLastIndex(isAbsolute);
  const whole = normalize(sep + parts.slice(Math.max(0, start)).join(sep));
  return whole.length > 1 && whole.endsWith(sep) ? whole.slice(0, -1) : whole;
}

const withoutEnd = (path: string): string => path.replace(/(?<=[^/])\/+$/, "");

export function dirname(path: string): string {
  const clean = withoutEnd(path);
  const at = clean.lastIndexOf(sep);
  if (at === -1) return ".";
  // Node keeps two leading slashes.
  if (at === 1 && clean.startsWith("//")) return "//";
  return clean.slice(0, at).replace(/\/+$/, "") === "" ? sep : clean.slice(0, at);
}

export function basename(path: string, ending = ""): string {
  const clean = withoutEnd(path);
  const name = clean.slice(clean.lastIndexOf(sep) + 1);
  return ending !== "" && ending !== name && name.endsWith(ending)
    ? name.slice(0, -ending.length)
    : name;
}

export function extname(path: string): string {
  const name = basename(path);
  const at = name.lastIndexOf(".");
  return at <= 0 || name === ".." ? "" : name.slice(at);
}

export function relative(from: string, to: string): string {
  const [start, end] = [from, to].map((one) =>
    resolve(one)
      .split(sep)
      .filter((part) => part !== ""),
  );
  let same = 0;
  while (same < start!.length && start![same] === end![same]) same++;
  return [...start!.slice(same).map(() => ".."), ...end!.slice(same)].join(sep);
}

export const delimiter = ":";
