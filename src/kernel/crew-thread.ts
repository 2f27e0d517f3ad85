import { workerData } from "node:worker_threads";
import { type CrewData, serve } from "./crew.ts";

// An entry point: what a thread of a crew runs.
serve(workerData as CrewData);
