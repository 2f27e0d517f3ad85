import { join } from "node:path";
import { pathToFileURL } from "node:url";

type Models = Record<string, new (manifest: object) => { validate(): void }>;

const FOLDER = join(import.meta.dirname, "../tools/node_modules/kubernetes-models");

/** Kubernetes' own schemas, by the kind of a manifest. */
export async function kubernetesModels(): Promise<Models> {
  const versions = ["batch/v1", "apps/v1", "v1"].map(
    async (version) =>
      (await import(pathToFileURL(join(FOLDER, version, "index.js")).href)) as Models,
  );
  return Object.assign({}, ...(await Promise.all(versions))) as Models;
}
