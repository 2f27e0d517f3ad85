import { isUsed, problemOf } from "../import/config-text.ts";
import {
  type FoundList,
  type ImportedConfig,
  type ImportedList,
  filesOf,
  withFiles,
} from "../import/imported-config.ts";
import { indexOfBytes } from "../bytes/search.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { lookAtSource } from "../engine/look-at-source.ts";
import type { SourceOptions } from "../engine/source-options.ts";
import { SourceReader } from "../engine/source-reader.ts";
import { CompilerError, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { countText } from "../diagnostics/number-text.ts";
import type { Host } from "../host/host.ts";
import { isAddress } from "../sources/location.ts";
import type { BuildOptions } from "./build-options.ts";

const EXCEPTION = encodeUtf8("@@");
/** Other formats have a different syntax for exceptions. */
const WRITES_EXCEPTIONS = new Set(["adblock", "hosts", "domains"]);

interface LookOptions extends Pick<BuildOptions, "cacheDir" | "offline"> {
  readonly signal: AbortSignal;
}

/**
 * Adds the current state of each list: whether it can be read, from where, and what it contains. If no server responds at all,
 * the network is probably down, so no address counts as dead. Rejects with a `CompilerError` if servers respond and no source
 * remains.
 */
export async function lookAtLists(
  setup: ImportedConfig,
  configFolder: string,
  { cacheDir, offline, signal }: LookOptions,
  host: Host,
): Promise<ImportedConfig> {
  let isDown = true;
  const watched: Host = {
    ...host,
    fetch: async (request) => {
      const response = await host.fetch(request);
      isDown = false;
      return response;
    },
  };
  const reader = new SourceReader(watched, { cacheDir, offline, configFolder, signal });
  const look = (lists: readonly ImportedList[], kind?: ListWish): Promise<ImportedList[]> =>
    Promise.all(
      lists.map(async (list) =>
        list.isOn
          ? { ...list, found: await found(list, reader, isInverted(list) ? undefined : kind) }
          : list,
      ),
    );
  const isInverted = (list: ImportedList): boolean =>
    [setup, list].some(({ settings }) => settings?.transformations?.includes("InvertAllow"));
  try {
    const files = await withFiles(setup, (lists) => look(lists));
    const lists = await look(files.lists, { mayBlock: [], isRequired: false });
    // An abort makes working lists fail, so their results are not usable.
    signal.throwIfAborted();
    const sure = await withoutDoubt(withAllowLists({ ...files, lists }), isDown, offline);
    if (sure.userRules.length === 0 && !sure.lists.some(isUsed))
      throw new CompilerError(sure.lists.flatMap(({ found: one }) => one?.failure ?? []));
    return sure;
  } finally {
    reader.close();
  }
}

/** Removes uncertain findings: addresses are not dead if the network is down, nor missing files if no source would remain. */
async function withoutDoubt(
  setup: ImportedConfig,
  isDown: boolean,
  offline: boolean,
): Promise<ImportedConfig> {
  const all = [...setup.lists, ...filesOf(setup)].filter(({ isOn }) => isOn);
  const isEmpty = setup.userRules.length === 0 && !setup.lists.some(isUsed);
  const hasAddress = all.some((list) => isAddress(list.source) && isUsed(list));
  // Without a request, a copy in the cache says nothing about the network.
  const isUnsure = isDown && (offline || !hasAddress);
  const doubtful = all.filter((list) =>
    isUsed(list) ? false : isAddress(list.source) ? isUnsure : isEmpty,
  );
  const [first] = doubtful;
  if (first === undefined) return setup;
  const kept = (lists: readonly ImportedList[]): ImportedList[] =>
    lists.map((list) =>
      doubtful.includes(list) ? { ...list, found: { ...list.found!, failure: undefined } } : list,
    );
  const note = `${countText(doubtful.length, "list")} could not be read and ${doubtful.length === 1 ? "was" : "were"} not checked: ${problemOf(first)}`;
  return {
    ...(await withFiles({ ...setup, lists: kept(setup.lists) }, kept)),
    notes: [...setup.notes, note],
  };
}

/** Moves what is not a block-list to the lists of names that stay reachable, if a source remains. */
function withAllowLists(setup: ImportedConfig): ImportedConfig {
  const allowLists = setup.lists.filter(isAllowList);
  const lists = setup.lists.filter((list) => !isAllowList(list));
  if (allowLists.length === 0 || (setup.userRules.length === 0 && !lists.some(isUsed)))
    return setup;
  return {
    ...setup,
    lists,
    allowLists: [
      ...setup.allowLists,
      ...allowLists.map((list) => ({ ...list, found: { ...list.found!, failure: undefined } })),
    ],
    notes: [
      ...setup.notes,
      ...allowLists.map(({ name }) => `${name} is an allow-list, so it is in allow_sources`),
    ],
  };
}

function isAllowList({ found: one }: ImportedList): boolean {
  return one?.failure?.code === "source-not-blocklist";
}

/** With `mayBlock`, a list must be a block-list. */
type ListWish = Pick<SourceOptions, "mayBlock" | "isRequired">;

async function found(
  { source, type }: ImportedList,
  reader: SourceReader,
  kind?: ListWish,
): Promise<FoundList> {
  let mayAllow = !isAddress(source) || !WRITES_EXCEPTIONS.has(type);
  const look = async (allowPrivate: boolean): Promise<Look> => {
    try {
      const wish = { source, allowPrivate, ...(kind && { ...kind, type }) };
      const state = await lookAtSource(reader, wish, (text) => {
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
  return {
    isPrivate,
    onlyBlocks: false,
    failure: causes.find(({ severity }) => severity === "error"),
  };
}

/** Whether there is a text to compile, fetched or cached, and why a fetch failed. */
interface Look {
  readonly isThere: boolean;
  readonly causes: readonly Diagnostic[];
}
