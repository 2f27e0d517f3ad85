import assert from "node:assert/strict";

/** What unbound makes of a file with tags: the most specific zone that has a tag of the client decides. */
export class TaggedNames {
  private readonly zones = new Map<string, { type: string; tags: readonly string[] }>();

  constructor(text: string) {
    for (const line of text.split("\n")) {
      const { what, name, rest } =
        /^(?<what>local-[a-z-]+): "(?<name>[^" ]+)\.(?: A 0\.0\.0\.0)?"? ?"?(?<rest>[^"]*)"?$/.exec(
          line,
        )?.groups ?? {};
      if (what === "local-zone") this.zones.set(name!, { type: rest!, tags: [] });
      else if (what === "local-data") {
        // Without a zone of its own, it would have the tags of a parent.
        assert.equal(this.zones.get(name!)?.type, "transparent", line);
        this.zones.set(name!, { type: "alone", tags: [] });
      } else if (what === "local-zone-tag")
        this.zones.set(name!, { ...this.zones.get(name!)!, tags: rest!.split(" ") });
    }
  }

  get size(): number {
    return this.zones.size;
  }

  isBlocked(name: string, tags: readonly string[]): boolean {
    for (
      let one = name;
      one !== "";
      one = one.includes(".") ? one.slice(one.indexOf(".") + 1) : ""
    ) {
      const zone = this.zones.get(one);
      if (zone === undefined || !zone.tags.some((tag) => tags.includes(tag))) continue;
      return zone.type === "always_nxdomain" || (zone.type === "alone" && one === name);
    }
    return false;
  }
}
