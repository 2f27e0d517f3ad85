import { onWindows } from "../support/on-windows.ts";

await onWindows([
  "formats/outputs",
  "publish/manifest",
  "publish/patches.long",
  "formats/limits.long",
  "publish/publish",
  "publish/output-lock",
]);
