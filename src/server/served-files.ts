import type { Host } from "../host/host.ts";
import { PACKED_ENDINGS } from "../host/packed-endings.ts";
import type { SuccessfulBuild } from "./history.ts";

const PACKED = new RegExp(`\\.(?:${Object.values(PACKED_ENDINGS).join("|")})$`);

/**
 * The files of lists that may be served. A run that finds nothing to do reports files from what is stored, which may come from elsewhere:
 * of those, only files that the configuration names are served, with their parts. What a run has written is served, too.
 */
export class ServedFiles {
  private readonly host: Pick<Host, "path" | "cwd">;
  private readonly known: Set<string>;

  constructor(configured: readonly string[], host: Pick<Host, "path" | "cwd">) {
    this.host = host;
    this.known = new Set(configured);
  }

  /** The paths of what a run reported. */
  pathsOf(outputs: SuccessfulBuild["outputs"]): string[] {
    return outputs.flatMap(({ file, files = [file], outcome }) => {
      const paths = files.map((one) => this.host.path.resolve(this.host.cwd, one));
      if (outcome === "written") for (const path of paths) this.known.add(path);
      return paths.filter((path) => this.isKnown(path));
    });
  }

  /** `l-2.hosts.gz` belongs to `l.hosts`. */
  private isKnown(path: string): boolean {
    const plain = path.replace(PACKED, "");
    const { path: paths } = this.host;
    const name = paths.basename(plain).replace(/-\d+(?=\.|$)/, "");
    const whole = paths.join(paths.dirname(plain), name);
    return [path, plain, whole].some((one) => this.known.has(one));
  }
}
