/** Text from a list, a server or a file name, made safe to print: no control, escape or direction-changing character survives. */
export function printable(text: string, limit = 200): string {
  const safe = isPlain(text)
    ? text
    : text.replace(
        /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
        (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
      );
  return safe.length > limit ? `${safe.slice(0, limit)}…` : safe;
}

/** Nearly all text is, and looking is quicker than replacing nothing. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 32 || code > 126) return false;
  }
  return true;
}

/**
 * The same text with every password and query of an address in it starred out, with `isSecret` every path, too; columns stay
 * where they were.
 */
export function maskCredentials(text: string, isSecret = false): string {
  const rest = isSecret
    ? /([/\\]{2,}[^/?#\s"']*[/?#])([^\s"']+)/g
    : /([/\\]{2,}[^?#\s"']*[?#])([^\s"']+)/g;
  return text
    .replace(/([/\\]{2,})([^/?#\s"']+|[^\s"'@]*:[^\s"'@]*)(?=@)/g, starred)
    .replace(rest, starred);
}

function starred(_: string, start: string, secret: string): string {
  return `${start}${"*".repeat(secret.length)}`;
}

/**
 * An address without what may be secret in it: user name, password, query and fragment; with `isSecret` the path, too. What
 * is not an address stays as it is.
 */
export function withoutCredentials(address: string, isSecret = false): string {
  const start = /^\s*(?:[a-z][a-z0-9+.-]*:)?[/\\]{2,}/i.exec(address)?.[0];
  if (start === undefined) return address;
  const open = start.trim() + withoutUser(address, start.length);
  const end = isSecret ? /(?<=[^/\\:])[/\\?#]/.exec(open) : /[?#]/.exec(open);
  return end === null ? open : `${open.slice(0, end.index + 1)}…`;
}

/** What stands behind the slashes of an address, without user name and password. */
function withoutUser(address: string, start: number): string {
  const text = address.trim();
  const rest = address.slice(start);
  const whole = /^[a-z]/i.test(text) ? text : `http:${text}`;
  // What no parser reads may still hold a password, with slashes in it.
  if (!URL.canParse(whole)) return rest.replace(/^.*@/s, "");
  const { username, password } = new URL(whole);
  // They end at the last @ before the path; a password may hold anything else.
  return username === "" && password === "" ? rest : rest.replace(/^[^/?#]*@/, "");
}
