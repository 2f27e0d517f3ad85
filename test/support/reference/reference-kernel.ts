import { type NameOptions, NameResolver, TextResolver } from "../../../src/kernel/name-resolver.ts";
import {
  type HashFilter,
  LineScanner,
  RowFinder,
  RowRecorder,
  RowWriter,
  type ScanRange,
} from "../../../src/kernel/rows.ts";
import type { Chunk } from "../../../src/rules/chunk.ts";
import { ReferenceNames } from "./kernel-names.ts";
import {
  blockNames,
  causesOf,
  countFates,
  findHashes,
  findRows,
  otherRows,
} from "./kernel-rows.ts";
import { ReferenceTexts } from "./kernel-texts.ts";

type Methods = Record<string, unknown>;

const names = new WeakMap<object, ReferenceNames>();
const texts = new WeakMap<object, ReferenceTexts>();

function namesOf(resolver: object): ReferenceNames {
  let own = names.get(resolver);
  if (own === undefined) {
    own = new ReferenceNames((resolver as { options: NameOptions }).options);
    names.set(resolver, own);
  }
  return own;
}

function textsOf(resolver: object): ReferenceTexts {
  let own = texts.get(resolver);
  if (own === undefined) texts.set(resolver, (own = new ReferenceTexts()));
  return own;
}

/** For each class that calls the kernel, its methods by the reference implementation. */
const REPLACEMENTS: readonly (readonly [{ prototype: object }, Methods])[] = [
  [
    LineScanner,
    {
      // No progress: every line is read one by one. Eight bytes are a short line.
      read: (_: Chunk, { from }: ScanRange) => from,
      countLines: (_: number, length: number) => length >>> 3,
    },
  ],
  [
    NameResolver,
    {
      add(this: object, chunk: Chunk) {
        namesOf(this).add(chunk);
      },
      resolve() {},
      apply(this: object, chunk: Chunk) {
        namesOf(this).apply(chunk);
      },
    },
  ],
  [
    TextResolver,
    {
      add(this: object, chunk: Chunk, row: number, isName: boolean) {
        textsOf(this).add(chunk, row, isName);
      },
      resolve() {},
      copiesOf(this: object, chunk: Chunk) {
        return textsOf(this).copiesOf(chunk);
      },
    },
  ],
  [
    RowFinder,
    {
      find: findRows,
      hashed: (chunk: Chunk, filter: HashFilter) => findHashes(chunk, filter),
    },
  ],
  [RowRecorder, { names: blockNames, others: otherRows, causes: causesOf }],
  [
    RowWriter,
    {
      // No progress: the caller writes every row.
      write: (_: Chunk, row: number) => row,
      count: countFates,
    },
  ],
];

/** Runs `work` with reference implementations instead of the kernel. */
export async function withReferenceKernel<T>(work: () => Promise<T>): Promise<T> {
  const restore: (() => void)[] = [];
  for (const [{ prototype }, methods] of REPLACEMENTS)
    for (const [name, method] of Object.entries(methods)) {
      const before = Object.getOwnPropertyDescriptor(prototype, name);
      if (before === undefined) throw new Error(`the kernel has no method ${name}`);
      Object.defineProperty(prototype, name, { ...before, value: method });
      restore.push(() => Object.defineProperty(prototype, name, before));
    }
  try {
    return await work();
  } finally {
    for (const one of restore) one();
  }
}
