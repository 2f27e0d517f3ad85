/**
 * Names of a policy zone's owners, as a question would have them: without the zone's own name behind them. That name is
 * known from the SOA record, or else from the first `$ORIGIN`; names that are relative to it can do without.
 */
export class ZoneNames {
  /** What relative names are relative to, without a final dot; undefined is the zone, whatever its name. */
  private origin: string | undefined;
  private zone: string | undefined;
  private hasStart = false;

  /** The argument of `$ORIGIN`. */
  setOrigin(text: string): void {
    this.origin = this.absolute(text);
    if (this.origin !== undefined && this.origin !== "") this.zone ??= this.origin;
  }

  /** The owner of the zone's SOA record: where the zone begins. */
  setStart(owner: string): void {
    if (this.hasStart) return;
    this.hasStart = true;
    const name = this.absolute(owner);
    if (name !== undefined) this.zone = name;
  }

  /** The name that an owner stands for, "" for the zone itself; undefined where it lies outside of the zone. */
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

  private absolute(text: string): string | undefined {
    const lower = text.toLowerCase();
    if (lower === "@") return this.origin;
    if (lower.endsWith(".")) return lower.slice(0, -1);
    if (this.origin === undefined) return undefined;
    return this.origin === "" ? lower : `${lower}.${this.origin}`;
  }
}
