import { onWindows } from "../support/on-windows.ts";

await onWindows([
  "outputs/outputs",
  "outputs/manifest",
  "outputs/patches.long",
  "outputs/limits",
  "safety/publish",
  "safety/output-lock",
]);
