import { type Exchange, type Host, HostError } from "../../../src/host/host.ts";
import { canaryIn } from "../../../src/syntax/host-name.ts";
import { answerTo, decoded } from "./dns-server.ts";

/**
 * What happens at a reload: the list is loaded, the old one stays although the reload says otherwise, the reload fails, half of the
 * list or nothing is loaded, or only half of a list that blocks `BAD_NAME`.
 */
export const RELOADS = ["whole", "ignored", "failed", "half", "nothing", "picky"] as const;
export type ReloadMode = (typeof RELOADS)[number];

/** A `picky` resolver loads only the half of a list with this name. */
export const BAD_NAME = "n1000.site.org";

/** A resolver without sockets, for thousands of questions and a clock of the test. */
export class SimulatedResolver {
  mode: ReloadMode = "whole";
  isDown = false;
  /** Whether names below a name of the list are blocked, too. */
  blocksBelow = false;
  /** What names are answered with that the list does not block, beside 192.0.2.1. */
  readonly world: Map<string, string> = new Map();
  reloads = 0;
  private loaded = "";
  private blocked: ReadonlySet<string> = new Set();
  private isWhole = false;

  /** Returns whether the reload reports success. */
  reload(list: string): boolean {
    this.reloads++;
    if (this.mode === "ignored") return true;
    if (this.mode === "failed") return false;
    const lines = list.split("\n").filter((line) => line.startsWith("||"));
    const isBad = this.mode === "picky" && lines.includes(`||${BAD_NAME}^`);
    this.isWhole = this.mode !== "half" && this.mode !== "nothing" && !isBad;
    const kept = this.isWhole
      ? lines
      : this.mode === "nothing"
        ? []
        : lines.slice(0, lines.length / 2);
    this.loaded = list;
    this.blocked = new Set(kept.map((line) => line.slice(2, -1)));
    return true;
  }

  /** The outcome that a proof must have while this list is published. */
  outcomeFor(list: string): string {
    if (this.isDown) return "unreachable";
    if (this.blocked.size === 0) return "unfiltered";
    if (!this.isWhole) return "wrong";
    return canaryIn(this.loaded) === canaryIn(list) ? "proved" : "stale";
  }

  answer(asked: Uint8Array): Uint8Array {
    const { name } = decoded(asked).questions![0]!;
    const above = name.slice(name.indexOf(".") + 1);
    if (this.blocked.has(name) || (this.blocksBelow && this.blocked.has(above)))
      return answerTo(asked, { rcode: 3 });
    const data = this.world.get(name) ?? "192.0.2.1";
    if (!name.endsWith(".example"))
      return answerTo(asked, { answers: [{ type: "A", name, ttl: 1, data }] });
    const soa = { mname: "a", rname: "b", serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 1 };
    return answerTo(asked, {
      rcode: 3,
      authorities: [{ type: "SOA", name: ".", ttl: 1, data: soa }],
    });
  }
}

/** The part of a host that asks these resolvers; the port selects one. */
export function exchangeWith(
  resolvers: readonly SimulatedResolver[],
): NonNullable<Host["exchange"]> {
  return async (exchange: Exchange) => {
    const resolver = resolvers[exchange.port - 1]!;
    if (resolver.isDown) throw new HostError("ECONNREFUSED", "connection refused");
    exchange.take(resolver.answer(exchange.message));
  };
}
