import process from "node:process";
import { HostError, toHostError } from "./host.ts";

/** Rows of a query. The module is loaded on use: not every runtime has it, and Node 22 warns that it is experimental. */
export async function queryDatabase(
  path: string,
  query: string,
): Promise<readonly Record<string, unknown>[]> {
  const { DatabaseSync } = await loadQuietly();
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      return database.prepare(query).all();
    } finally {
      database.close();
    }
  } catch (error) {
    throw toHostError(error);
  }
}

/** Suppresses the warning of some versions that the module is experimental. */
async function loadQuietly(): Promise<typeof import("node:sqlite")> {
  const own = Object.getOwnPropertyDescriptor(process, "emitWarning")!;
  Object.defineProperty(process, "emitWarning", { ...own, value: () => {} });
  try {
    return await import("node:sqlite");
  } catch {
    throw new HostError(
      "ENOTSUP",
      "this runtime cannot read SQLite; use Node, or export the lists",
    );
  } finally {
    Object.defineProperty(process, "emitWarning", own);
  }
}
