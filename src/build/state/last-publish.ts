import type { CompileReport } from "../../engine/report.ts";
import { type Host, HostError } from "../../host/host.ts";
import type { StateFile } from "../../host/state-file.ts";
import { stateOf } from "../../record/record-folder.ts";

/** The state of the last publish, stored beside the list. Fields that earlier versions did not write are optional. */
export interface LastPublish {
  readonly version: 1;
  readonly published: string;
  readonly rules: number;
  /** Protected names that the list blocks. */
  readonly blocked?: readonly string[];
  readonly sources: readonly {
    readonly label: string;
    readonly source: string;
    readonly lines: number;
    readonly kept: number;
    /** How many names that people need it blocks, by kind. */
    readonly kinds?: Readonly<Record<string, number>>;
  }[];
  /** The configuration's file, relative to the folder of the list, so that both can be moved. */
  readonly config?: string;
}

function fileOf(output: string, host: Host): StateFile<LastPublish> {
  return stateOf(output, "json", isLastPublish, host);
}

/** Undefined for the first publish, if the list was deleted, or if the state cannot be read. */
export async function readLastPublish(
  output: string,
  host: Host,
): Promise<LastPublish | undefined> {
  if (!(await host.exists(output))) return undefined;
  return await fileOf(output, host).read();
}

/** Saves the state after a publish. If that fails, the next list is compared with the older state. */
export async function rememberPublish(
  output: string,
  report: CompileReport,
  path: string | undefined,
  host: Host,
): Promise<void> {
  const last = await readLastPublish(output, host);
  const file = fileOf(output, host);
  const config =
    path === undefined ? last?.config : host.path.relative(host.path.dirname(output), path);
  try {
    const { rules, blocked } = report;
    await file.write(
      {
        version: 1,
        published: host.now().toISOString(),
        rules,
        ...(blocked !== undefined && { blocked }),
        sources: report.sources.flatMap(({ label, source, lines, kept, state, kinds }) => {
          // A source that is left out is not new when it comes back, and may block what it blocked.
          const known = last?.sources.find((one) => one.source === source);
          const blocks = state === "dropped" ? known?.kinds : kinds;
          return state === "dropped" && known === undefined
            ? []
            : [{ label, source, lines, kept, ...(blocks && { kinds: blocks }) }];
        }),
        ...(config !== undefined && { config }),
      },
      1,
    );
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
  }
}

function isLastPublish(record: unknown): record is LastPublish {
  if (typeof record !== "object" || record === null) return false;
  const { version, rules, sources, blocked = [], config = "" } = record as Partial<LastPublish>;
  if (version !== 1 || typeof rules !== "number" || typeof config !== "string") return false;
  return Array.isArray(sources) && Array.isArray(blocked);
}
