import type { ListPlan } from "../build/list-plan.ts";
import type { Host } from "../host/host.ts";
import { type OutputPlan, plannedFiles } from "../publish/output-plan.ts";
import { withPacked } from "../publish/packed-files.ts";
import { partPaths } from "../publish/split-file.ts";

/** The files that the configuration gives a list, by their names in the folder. */
export class PlannedNames {
  private readonly plan: ListPlan;
  private readonly nameOf: (path: string) => string;
  private readonly lists: readonly string[];

  constructor(plan: ListPlan, nameOf: (path: string) => string) {
    this.plan = plan;
    this.nameOf = nameOf;
    this.lists = plan.files.map(({ path }) => nameOf(path));
  }

  /** Whether a file is the list, an output or a part of one. */
  has(name: string): boolean {
    return this.lists.includes(name) || this.plan.outputs.some((output) => this.isOf(output, name));
  }

  /** Whether a file belongs to an output that is not among these files: a rollback leaves it alone. */
  isLeftAlone(name: string, files: readonly string[]): boolean {
    return this.plan.outputs.some(
      (output) =>
        this.isOf(output, name) && !this.namesOf(output).some((one) => files.includes(one)),
    );
  }

  /** All of them, with the parts that notes of earlier runs tell of. */
  async all(host: Host): Promise<string[]> {
    const names = [...this.lists];
    for (const output of this.plan.outputs)
      for (const { path } of filesOf({ ...output, packings: [] })) {
        const parts = (await partPaths(path, host)).map((part) => ({ name: part, path: part }));
        names.push(...withPacked(parts, output.packings).map((file) => this.nameOf(file.path)));
      }
    return names;
  }

  private isOf(output: OutputPlan, name: string): boolean {
    const names = this.namesOf(output);
    return names.includes(name) || names.includes(withoutPart(name));
  }

  private namesOf(output: OutputPlan): string[] {
    return filesOf(output).map(({ path }) => this.nameOf(path));
  }
}

/** Scripts for `nsupdate` are not published. */
function filesOf(output: OutputPlan): ReturnType<typeof plannedFiles> {
  return plannedFiles({ ...output, updates: undefined });
}

/** `list-2.txt` → `list.txt` */
function withoutPart(name: string): string {
  return name.replace(/-\d+(?=(?:\.[^/]*)?$)/, "");
}
