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

/** The same text with every password in it starred out; columns stay where they were. */
export function maskCredentials(text: string): string {
  return text.replace(
    /([/\\]{2,})([^/?#\s"']+|[^\s"'@]*:[^\s"'@]*)@/g,
    (_, start: string, secret: string) => `${start}${"*".repeat(secret.length)}@`,
  );
}

/** An address without the user name and password it may carry. */
export function withoutCredentials(address: string): string {
  const start = /^\s*(?:[a-z][a-z0-9+.-]*:)?[/\\]{2,}/i.exec(address)?.[0];
  if (start === undefined) return address;
  const text = address.trim();
  const whole = /^[a-z]/i.test(text) ? text : `http:${text}`;
  if (URL.canParse(whole)) {
    const { username, password } = new URL(whole);
    if (username === "" && password === "") return address;
    // They end at the last @ before the path; a password may hold anything else.
    return start.trim() + address.slice(start.length).replace(/^[^/?#]*@/, "");
  }
  // What no parser reads may still hold a password, with slashes in it.
  return start.trim() + address.slice(start.length).replace(/^.*@/s, "");
}
