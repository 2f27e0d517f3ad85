import { enableCompileCache } from "node:module";
import { join } from "node:path";

// Saves each test file from stripping types of, and compiling, the same modules: 0.8 instead of 2.5 s of processor time for a small one.
// Not by NODE_COMPILE_CACHE, which the programs under test would inherit.
enableCompileCache(join(import.meta.dirname, "../../node_modules/.cache/test-modules"));
