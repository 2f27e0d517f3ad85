import { onWindows } from "../support/on-windows.ts";

await onWindows([
  "formats/outputs",
  "publish/manifest",
  "publish/patches.long",
  "formats/limits",
  "publish/publish",
  "publish/output-lock",
]);
