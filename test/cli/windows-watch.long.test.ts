import { onWindows } from "../support/on-windows.ts";

await onWindows(["cli/watch", "cli/last-build", "cli/init"]);
