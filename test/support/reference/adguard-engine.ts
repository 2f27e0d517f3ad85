import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** As much of AdGuard's engine for DNS as is used: a black box, and a second opinion. */
interface Engine {
  match(name: string): { basicRule: { isAllowlist(): boolean } | null; hostRules: unknown[] };
}
interface EngineModule {
  readonly DnsEngine: new (storage: unknown) => Engine;
  readonly RuleStorage: new (lists: unknown[]) => unknown;
  readonly StringRuleList: new (
    id: number,
    text: string,
    ignoreCosmetic: boolean,
    ignoreJs: boolean,
  ) => unknown;
}

const PATH = join(
  import.meta.dirname,
  "../../oracle/node_modules/@adguard/tsurlfilter/dist/es/index.js",
);

/** Why the engine cannot be asked. */
export const missingEngine: string | false =
  !existsSync(PATH) && "NO ORACLE: run `npm run oracle` to install AdGuard's engine";

export type EngineVerdict = "blocked" | "allowed" | "neither";

/** Reads lists as AdGuard's engine does. */
export async function adguardEngine(): Promise<(text: string) => (name: string) => EngineVerdict> {
  const module = (await import(pathToFileURL(PATH).href)) as EngineModule;
  return (text) => {
    const list = new module.StringRuleList(0, text, true, true);
    const engine = new module.DnsEngine(new module.RuleStorage([list]));
    return (name) => {
      const { basicRule, hostRules } = engine.match(name);
      if (basicRule !== null) return basicRule.isAllowlist() ? "allowed" : "blocked";
      return hostRules.length > 0 ? "blocked" : "neither";
    };
  };
}
