import type { ReadTable, Row } from "./imported-config.ts";

/** The default group of clients. */
const DEFAULT_GROUP = 0;

/** The groups of Pi-hole. Only enabled groups count. */
export class PiholeGroups {
  /** The names of groups with lists, the default one first. */
  readonly names: readonly string[];
  readonly usual: string;
  private readonly byId: ReadonlyMap<unknown, string>;
  private readonly members: Readonly<Record<string, ReadonlyMap<unknown, readonly unknown[]>>>;

  private constructor(
    byId: ReadonlyMap<unknown, string>,
    members: Readonly<Record<string, ReadonlyMap<unknown, readonly unknown[]>>>,
  ) {
    this.byId = byId;
    this.members = members;
    this.usual = byId.get(DEFAULT_GROUP) ?? "Default";
    const used = new Set([...(members["adlist"]?.values() ?? [])].flat());
    this.names = [...byId]
      .filter(([id]) => id === DEFAULT_GROUP || used.has(id))
      .map(([, name]) => name);
  }

  static async read(table: ReadTable): Promise<PiholeGroups> {
    const found = ((await table("group")) ?? []).filter(({ enabled }) => enabled === 1);
    const members: Record<string, Map<unknown, unknown[]>> = {};
    for (const kind of ["adlist", "domainlist"]) {
      const rows = found.length === 0 ? undefined : await table(`${kind}_by_group`);
      if (rows === undefined) continue;
      const byId = (members[kind] = new Map<unknown, unknown[]>());
      for (const row of rows) {
        const id = row[`${kind}_id`];
        byId.set(id, [...(byId.get(id) ?? []), row["group_id"]]);
      }
    }
    return new PiholeGroups(new Map(found.map(({ id, name }) => [id, String(name)])), members);
  }

  /** The groups of a row; undefined if there are no groups. */
  of(kind: string, { id }: Row): string[] | undefined {
    const ids = this.members[kind];
    return ids && (ids.get(id) ?? []).flatMap((group) => this.byId.get(group) ?? []);
  }

  isUsual(kind: string, row: Row): boolean {
    return this.of(kind, row)?.includes(this.usual) ?? true;
  }
}
