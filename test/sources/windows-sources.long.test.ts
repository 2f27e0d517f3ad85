import { onWindows } from "../support/on-windows.ts";

await onWindows(["sources-http", "safety/last-good", "safety/held-sources"]);
