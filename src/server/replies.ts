import { createHash } from "node:crypto";
import type { WebReply } from "../host/host.ts";
import { PAGE_STYLE } from "../pages/page-style.ts";

const STYLE_HASH = createHash("sha256").update(PAGE_STYLE).digest("base64");

const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
} as const;

/** A page with the style of all pages, and no script. */
export function pageReply(status: number, body: string | Uint8Array): WebReply {
  return { status, headers: PAGE_HEADERS, body };
}

export function textReply(
  status: number,
  body: WebReply["body"],
  more: Record<string, string> = {},
): WebReply {
  return {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", ...more },
    body,
  };
}

export function jsonReply(
  status: number,
  value: object,
  more: Record<string, string> = {},
): WebReply {
  return {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...more },
    body: `${JSON.stringify(value, undefined, 2)}\n`,
  };
}
