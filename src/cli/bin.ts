#!/usr/bin/env node
import process from "node:process";
import { nodeHost } from "../host/node.ts";
import { run } from "./main.ts";

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort(signal));
process.exitCode = await run(process.argv.slice(2), nodeHost(), stop.signal);
