import type { DnsAnswer } from "./dns-message.ts";

/**
 * What an answer says about a name. `absent`: the name does not exist or has no address, and nothing shows whether a policy said
 * so. `failed`: the resolver could not tell.
 */
export type AnswerKind = "blocked" | "passed" | "absent" | "failed";

/** An answer with the name that was asked for. */
export interface NamedAnswer {
  readonly name: string;
  readonly answer: DnsAnswer;
}

/** Forged Answer, Blocked, Censored, Filtered (RFC 8914). */
const POLICY_ERRORS: ReadonlySet<number> = new Set([4, 15, 16, 17]);
const NULL_ADDRESS = /^(?:0\.0\.0\.0|[0:]+)$/;

/**
 * Tells answers of a policy from others. Many resolvers block with NXDOMAIN, which is also the answer for a name that does not
 * exist. So names that no list contains are asked for as well: these controls show how the resolver answers then.
 */
export class AnswerKinds {
  private readonly controls: NamedAnswer[] = [];
  private readonly shapes = new Set<string>();
  /** Addresses of a page that the resolver shows for blocked names. */
  private page: readonly string[] = [];

  /** Adds the answer for a name that no list contains. */
  addControl(control: NamedAnswer): void {
    this.controls.push(control);
    this.shapes.add(shapeOf(control));
  }

  /** Whether the resolver answers no question at all, and its code. */
  get failure(): string | undefined {
    const codes = this.controls.map(({ answer }) => answer.rcode);
    return codes.every((code) => code !== "NOERROR" && code !== "NXDOMAIN") ? codes[0] : undefined;
  }

  /** Whether a policy answers for a name that exists nowhere. `isNew`: it is asked for the first time, so it is not cached. */
  isPolicy(one: NamedAnswer, isNew: boolean): boolean {
    const { rcode, addresses, soa } = one.answer;
    if (isFailure(rcode) || this.shapes.has(shapeOf(one))) return false;
    // If the resolver cannot reach other servers, an answer may be from its cache.
    const isMadeHere = isExplicit(one.answer) || (isNew && soa === undefined);
    if (this.failure !== undefined && !isMadeHere) return false;
    if (addresses.length > 0) this.page = addresses;
    return true;
  }

  /** What the resolver says about a name that may exist. */
  kindOf(one: NamedAnswer): AnswerKind {
    const { rcode, addresses } = one.answer;
    if (isExplicit(one.answer)) return "blocked";
    if (rcode === "REFUSED") return this.failure === undefined ? "blocked" : "failed";
    if (isFailure(rcode)) return "failed";
    if (addresses.length > 0)
      return addresses.every((address) => this.page.includes(address)) ? "blocked" : "passed";
    return this.isMarked(one) ? "blocked" : "absent";
  }

  /** Whether a negative answer differs from those that the resolver got from elsewhere. */
  private isMarked(one: NamedAnswer): boolean {
    if (one.answer.hasOthers || this.failure !== undefined) return false;
    const { isAuthoritative } = one.answer;
    const place = soaPosition(one);
    return this.controls.every((control) => {
      const usual = soaPosition(control);
      if (control.answer.rcode !== "NXDOMAIN") return false;
      // smartdns always puts the name itself there, and blocks with an empty answer.
      if (usual === "self") return place === "self" && one.answer.rcode === "NOERROR";
      if (isAuthoritative && !control.answer.isAuthoritative) return true;
      return place !== "above" && place !== usual;
    });
  }
}

function isFailure(rcode: string): boolean {
  return rcode !== "NOERROR" && rcode !== "NXDOMAIN" && rcode !== "REFUSED";
}

/** Answers that only a policy gives. */
function isExplicit({ addresses, errors, policySoa, ...answer }: DnsAnswer): boolean {
  if (addresses.length > 0) return addresses.every((address) => NULL_ADDRESS.test(address));
  if (policySoa !== undefined || errors.some((code) => POLICY_ERRORS.has(code))) return true;
  return answer.rcode === "NXDOMAIN" && answer.soa === undefined && answer.isAuthoritative;
}

/** Where the SOA record of a negative answer is. A real one is in a zone above the name, or that of the name itself. */
function soaPosition({
  name,
  answer: { soa },
}: NamedAnswer): "none" | "self" | "above" | "elsewhere" {
  if (soa === undefined) return "none";
  if (soa === name) return "self";
  return soa === "." || name.endsWith(`.${soa}`) ? "above" : "elsewhere";
}

/** Everything about an answer that differs between a policy and the rest of the world, but not between two similar names. */
function shapeOf(one: NamedAnswer): string {
  const { rcode, isAuthoritative, addresses, hasOthers, soa, policySoa, errors } = one.answer;
  const place = soaPosition(one);
  const owner = place === "self" ? "self" : (soa ?? "none");
  const parts = [rcode, isAuthoritative, addresses.toSorted(), hasOthers, owner, policySoa, errors];
  return JSON.stringify(parts);
}
