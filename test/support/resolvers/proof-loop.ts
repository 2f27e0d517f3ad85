import type { Proof } from "../../../src/documents/facts.ts";
import type { LastProof } from "../../../src/builder/state/list-state.ts";
import type { Host } from "../../../src/host/host.ts";
import { buildOf, canaryIn } from "../../../src/syntax/host-name.ts";
import { MemoryProject, type Said } from "../memory-project.ts";
import { SimulatedResolver, exchangeWith } from "./simulated-resolvers.ts";
import { listsIn } from "../documents.ts";

const STATES = ["refused", "degraded", "recovered", "failed"];

/** A list of forty names; lists with an odd number contain the bad name. */
export function listOf(number: number): string {
  const names = Array.from({ length: 40 }, (_, index) => `n${number * 5 + index}.site.org`);
  if (number % 2 === 1) names.push("n1000.site.org");
  return `${names.map((name) => `||${name}^`).join("\n")}\n`;
}

const NAMES = ["first", "second", "third", "fourth"];

/** What a fleet has instead of a reload for each of its resolvers. */
interface FleetOptions {
  /** The group of a resolver. */
  readonly groupOf: (index: number) => string;
  readonly after: readonly object[];
  /** More settings of the list. */
  readonly more?: object;
}

/** Resolvers with a reload each, and a hook that hears of changed states. Of two, only the first may cause a rollback; of more, all. */
export class ProofLoop {
  readonly resolvers: readonly SimulatedResolver[];
  readonly events: Record<string, unknown>[] = [];
  readonly project: MemoryProject;
  private time = Date.parse("2026-11-16T00:00:00Z");

  readonly names: readonly string[];
  /** The lists that the resolvers read. */
  files: readonly string[];
  private readonly changes: Partial<Host>;

  constructor(onFailure: "keep" | "rollback", count = 2, fleet?: FleetOptions) {
    const names =
      fleet === undefined ? NAMES : Array.from({ length: count }, (_, index) => `r${index + 1}`);
    this.names = names;
    this.files = names.map(() => "rules/list.txt");
    this.resolvers = Array.from({ length: Math.max(2, count) }, () => new SimulatedResolver());
    const config = {
      name: "List",
      sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
      after: [
        { run: ["/state"], on: STATES },
        ...(fleet?.after ??
          this.resolvers.map((_, index) => ({ reload: "unbound", with: [names[index]] }))),
      ],
      ...fleet?.more,
      resolvers: names.slice(0, count).map((name, index) => ({
        name,
        address: `127.0.0.1:${index + 1}`,
        ...(fleet && { group: fleet.groupOf(index) }),
        ...((index === 0 || count > 2) && { on_failure: onFailure }),
      })),
    };
    this.changes = {
      now: () => new Date(this.time++),
      wait: async (ms) => void (this.time += ms),
      exchange: exchangeWith(this.resolvers),
      runProgram: async ({ words, input }) => {
        const which = names.indexOf(words[1] ?? "");
        let isGood = true;
        if (words[0] === "/state") this.events.push(JSON.parse(input) as Record<string, unknown>);
        else isGood = this.resolvers[which]!.reload(this.project.text(this.files[which]!));
        return { exit: isGood ? 0 : 1, isLate: false, output: "", bytes: 0 };
      },
    };
    const files = { "c.json": JSON.stringify(config), "own.txt": listOf(0) };
    this.project = new MemoryProject(files, this.changes);
  }

  /** Replaces functions of the host. */
  change(replace: (host: Host) => Partial<Host>): void {
    Object.assign(this.changes, replace({ ...this.project.memory, ...this.changes }));
  }

  get list(): string {
    return this.project.text("rules/list.txt");
  }

  get build(): string {
    return buildOf(canaryIn(this.list)!);
  }

  get proof(): LastProof {
    return JSON.parse(this.project.text("rules/.rules-compiler/list.txt.proof.json")) as LastProof;
  }

  get rollbacks(): { readonly by: string }[] {
    const lines = this.project.text("rules/.rules-compiler/list.txt.log.jsonl").split("\n");
    return lines
      .filter((line) => line.includes('"rolled-back"'))
      .map((line) => JSON.parse(line) as { by: string });
  }

  async compile(...more: string[]): Promise<Said & { readonly proofs: readonly Proof[] }> {
    this.time += 3_600_000;
    const words = [
      "-c",
      "c.json",
      "--permit",
      "hooks",
      "--wait",
      "0",
      "--json",
      "--no-cache",
      ...more,
    ];
    const said = await this.project.run(...words);
    const [{ resolvers = [] } = {}] = listsIn(said.stdout || '{"lists":[]}') as {
      resolvers?: Proof[];
    }[];
    return { ...said, proofs: resolvers };
  }

  async publish(number: number, ...more: string[]): ReturnType<ProofLoop["compile"]> {
    this.project.write("own.txt", listOf(number));
    return await this.compile(...more);
  }

  /** Lets days pass. */
  sleep(days: number): void {
    this.time += days * 86_400_000;
  }

  outcomes(proofs: readonly Proof[]): string {
    return proofs.map(({ resolver, outcome }) => `${resolver} ${outcome}`).join(", ");
  }
}
