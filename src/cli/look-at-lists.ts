import type { ForeignList, ForeignSetup, FoundList } from "../adopt/foreign-setup.ts";
import { indexOfBytes } from "../bytes/search.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { SourceReader } from "../compile/source-reader.ts";
import { CompilerError, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { countText } from "../diagnostics/number-text.ts";
import type { Host } from "../host/host.ts";
import { isAddress } from "../sources/location.ts";
import type { Options } from "./options.ts";

const EXCEPTION = encodeUtf8("@@");
/** In other formats exceptions are written otherwise. */
const WRITES_EXCEPTIONS = new Set(["adblock", "hosts", "domains"]);

/**
 * The setup with what its lists are now: whether each can be read, from where, and what it holds. When no address at all
 * answers, the network is more likely to be down than all of the lists, and none of them is called dead.
 */
export async function lookAtLists(
  setup: ForeignSetup,
  configFolder: string,
  { cacheFolder, isOffline: offline }: Pick<Options, "cacheFolder" | "isOffline">,
  host: Host,
): Promise<ForeignSetup> {
  const reader = new SourceReader(host, { cacheFolder, offline, configFolder });
  try {
    const look = (lists: readonly ForeignList[]): Promise<ForeignList[]> =>
      Promise.all(
        lists.map(async (list) =>
          list.isOn ? { ...list, found: await found(list, reader) } : list,
        ),
      );
    const [lists, allowLists] = await Promise.all([look(setup.lists), look(setup.allowLists)]);
    const asked = [...lists, ...allowLists].filter((list) => list.isOn && isAddress(list.source));
    const dead = asked.filter((list) => list.found?.problem !== undefined);
    if (dead.length === 0 || (dead.length < asked.length && !offline))
      return { ...setup, lists, allowLists };
    const note = `${countText(dead.length, "address", "addresses")} could not be looked at: ${dead[0]!.found!.problem}`;
    const unknown = (list: ForeignList): ForeignList =>
      dead.includes(list) ? { ...list, found: { ...list.found!, problem: undefined } } : list;
    return {
      ...setup,
      lists: lists.map(unknown),
      allowLists: allowLists.map(unknown),
      notes: [...setup.notes, note],
    };
  } finally {
    reader.close();
  }
}

async function found({ source, type }: ForeignList, reader: SourceReader): Promise<FoundList> {
  let mayAllow = !isAddress(source) || !WRITES_EXCEPTIONS.has(type);
  const look = async (allowPrivate: boolean): Promise<Look> => {
    try {
      const state = await reader.look(source, allowPrivate, (text) => {
        mayAllow ||= indexOfBytes(text, EXCEPTION) !== -1;
      });
      return { isThere: true, causes: state.kind === "stale" ? state.causes : [] };
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
      return { isThere: false, causes: error.diagnostics };
    }
  };
  const first = await look(false);
  const isPrivate = first.causes.some(({ code }) => code === "private-address");
  const { isThere, causes } = isPrivate ? await look(true) : first;
  if (isThere) return { isPrivate, onlyBlocks: !mayAllow };
  const [{ message, cause } = { message: "", cause: undefined }] = causes;
  const problem = [message, cause].filter(Boolean).join(": ");
  return { isPrivate, onlyBlocks: false, problem };
}

/** Whether there is a text to compile, fetched or kept, and why it could not be fetched. */
interface Look {
  readonly isThere: boolean;
  readonly causes: readonly Diagnostic[];
}
