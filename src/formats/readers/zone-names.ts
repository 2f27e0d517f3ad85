/**
 * Owners of a policy zone as queried names: without the name of the zone at the end. The SOA record has that name, or else the first
 * `$ORIGIN`; names that are relative to the zone do not need it.
 */
export class ZoneNames {
  /** The origin of relative names, without a final dot; undefined means the zone, whose name may be unknown. */
  private origin: string | undefined;
  private zone: string | undefined;
  private hasStart = false;

  /** The argument of `$ORIGIN`. */
  setOrigin(text: string): void {
    this.origin = this.absolute(text);
    if (this.origin !== undefined && this.origin !== "") this.zone ??= this.origin;
  }

  /** The owner of the SOA record: the apex of the zone. */
  setStart(owner: string): void {
    if (this.hasStart) return;
    this.hasStart = true;
    const name = this.absolute(owner);
    if (name !== undefined) this.zone = name;
  }

  /** The queried name of an owner, "" for the zone itself; undefined outside of the zone. */
  nameOf(owner: string): string | undefined {
    const { origin, zone } = this;
    const isFull = owner.endsWith(".");
    if (!isFull && (origin === undefined || zone === undefined)) {
      const name = owner === "@" ? "" : owner;
      return origin === undefined || origin === "" ? name.toLowerCase() : undefined;
    }
    const name = this.absolute(owner);
    if (name === undefined || zone === undefined) return undefined;
    if (name === zone) return "";
    return zone === ""
      ? name
      : name.endsWith(`.${zone}`)
        ? name.slice(0, -zone.length - 1)
        : undefined;
  }

  /** The target of an alias as a name, without a final dot. */
  targetOf(target: string): string {
    return this.absolute(target) ?? target.toLowerCase();
  }

  private absolute(text: string): string | undefined {
    const lower = text.toLowerCase();
    if (lower === "@") return this.origin;
    if (lower.endsWith(".")) return lower.slice(0, -1);
    if (this.origin === undefined) return undefined;
    return this.origin === "" ? lower : `${lower}.${this.origin}`;
  }
}
