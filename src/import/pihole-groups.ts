/** The default group of clients. */
const DEFAULT_GROUP = 0;

export type Row = Readonly<Record<string, unknown>>;
type Query = (query: string) => Promise<readonly Row[]>;

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

  static async read(tables: ReadonlySet<string>, rows: Query): Promise<PiholeGroups> {
    const found = tables.has("group")
      ? await rows(`SELECT id, name FROM "group" WHERE enabled = 1 ORDER BY id`)
      : [];
    const members: Record<string, Map<unknown, unknown[]>> = {};
    for (const kind of ["adlist", "domainlist"]) {
      if (found.length === 0 || !tables.has(`${kind}_by_group`)) continue;
      const byId = (members[kind] = new Map<unknown, unknown[]>());
      for (const row of await rows(`SELECT * FROM ${kind}_by_group`)) {
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
