/** `a.b.c`, `b.c`, `c`. */
export function withParents(name: string): string[] {
  const parents = [name];
  for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".", dot + 1))
    parents.push(name.slice(dot + 1));
  return parents;
}
