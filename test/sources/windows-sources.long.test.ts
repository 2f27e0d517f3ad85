import { onWindows } from "../support/on-windows.ts";

await onWindows(["sources/sources-http", "sources/last-good.long", "sources/held-sources.long"]);
