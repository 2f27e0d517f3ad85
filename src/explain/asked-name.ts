import { quickAscii } from "../syntax/idna.ts";

/** The name in what a person asks about: `||ads.example.com^`, `0.0.0.0 ads.example.com` and URLs are accepted. */
export function askedName(question: string): string {
  const address = question.trim().replace(/^\w+:\/\/([^/?#]*).*$/, "$1");
  const bare = address
    .trim()
    .replace(/^@@/, "")
    .replace(/^\|{0,2}(?:[0-9.:]+\s+)?/, "");
  return asciiName(bare.replace(/[\^$].*$/, ""));
}

/** A name in lower case and ASCII, without the final dot. */
export function asciiName(text: string): string {
  const typed = text.trim().toLowerCase().replace(/\.$/, "");
  return /[^\u0020-\u007e]/.test(typed) ? quickAscii(typed).toLowerCase() : typed;
}
