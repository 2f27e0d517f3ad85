import { HASH_SEED } from "../bytes/hash.ts";
import type { Host, Thread } from "../host/host.ts";
import { type KernelExports, type KernelMemory, kernelOver } from "./memory.ts";
import type { WasmMemory } from "./web-assembly.ts";

/** Functions of the kernel that can be done apart, by their number on the board. */
const TASKS = ["scan", "resolvePart"] as const;
export type TaskName = (typeof TASKS)[number];

/** A place on the board: state, function, arguments, results. */
const PLACE = { state: 0, task: 1, argumentCount: 2, arguments: 3, results: 26 } as const;
const PLACE_WORDS = 32;
const STATE = { Free: 0, Posted: 1, Taken: 2, Done: 3, Failed: 4 } as const;
/** Before the places: a count that rises with every task, whether the work is over, where to look first, who is here. */
const BOARD = { posted: 0, isOver: 1, first: 2, present: 3 } as const;
const BOARD_WORDS = 16;

/** What a thread is told when it starts. */
export interface CrewData {
  readonly memory: WasmMemory;
  /** Seed of the hash, which every process makes anew, and so does every thread that imports it. */
  readonly seed: number;
  readonly boardAt: number;
  readonly places: number;
  readonly suffixes: readonly [filter: number, wildcards: number];
}

export interface TaskResult {
  readonly value: number;
  readonly scanEnd: number;
  readonly unknownRows: number;
  readonly contents: number;
}

/**
 * Threads with a kernel of their own over the same memory. Tasks are posted on a board; whoever is free takes one, and so
 * does the caller when it needs a result that nobody has begun with. What a task computes does not depend on who did it.
 */
export class Crew {
  /** Tasks that can be on the board at a time. */
  readonly places: number;
  private readonly kernel: KernelMemory;
  private readonly board: Int32Array;
  private readonly threads: readonly Thread[];
  private readonly free: number[];

  private constructor(kernel: KernelMemory, boardAt: number, places: number, threads: Thread[]) {
    this.kernel = kernel;
    this.places = places;
    this.threads = threads;
    this.board = boardOf(kernel.memory, boardAt, places);
    this.free = Array.from({ length: places }, (_, index) => places - 1 - index);
  }

  /** Undefined where no thread can be started: everything works without. */
  static start(
    size: number,
    kernel: KernelMemory,
    suffixes: CrewData["suffixes"],
    host: Host,
  ): Crew | undefined {
    // Two for each: the next task is there when one is done.
    const places = size * 2 + 1;
    const bytes = (BOARD_WORDS + places * PLACE_WORDS) * 4;
    const boardAt = kernel.allocateLasting(bytes);
    kernel.bytes(boardAt, bytes).fill(0);
    const url = new URL(`./crew-thread${import.meta.url.slice(-3)}`, import.meta.url);
    const data: CrewData = { memory: kernel.memory, seed: HASH_SEED, boardAt, places, suffixes };
    const threads: Thread[] = [];
    for (let index = 0; index < size; index++) {
      const thread = host.startThread?.(url, data);
      if (thread !== undefined) threads.push(thread);
    }
    return threads.length === 0 ? undefined : new Crew(kernel, boardAt, places, threads);
  }

  /** Resolves when all threads are here, or will not come. Only tests have to wait for that. */
  async ready(): Promise<void> {
    for (let tries = 0; tries < 5000; tries++) {
      if (Atomics.load(this.board, BOARD.present) === this.threads.length) return;
      await new Promise((turned) => setTimeout(turned, 1));
    }
  }

  /** Puts a task on the board, which has room, and returns its place. */
  post(task: TaskName, values: readonly number[]): number {
    const { board } = this;
    const place = this.free.pop()!;
    const at = addressOf(place);
    board[at + PLACE.task] = TASKS.indexOf(task);
    board[at + PLACE.argumentCount] = values.length;
    board.set(values, at + PLACE.arguments);
    Atomics.store(board, at + PLACE.state, STATE.Posted);
    Atomics.add(board, BOARD.posted, 1);
    Atomics.notify(board, BOARD.posted, 1);
    return place;
  }

  /** The result of a task; does it if nobody has. The place is free afterwards. */
  finish(place: number): TaskResult {
    const { board } = this;
    const at = addressOf(place);
    const state = at + PLACE.state;
    const { Posted, Taken, Failed } = STATE;
    if (Atomics.compareExchange(board, state, Posted, Taken) === Posted)
      work(this.kernel.exports, board, at);
    else {
      // Rather than wait, the caller does what nobody has begun with.
      while (Atomics.load(board, state) === Taken)
        if (!takeOne(this.kernel.exports, board, this.places)) Atomics.wait(board, state, Taken);
      // Whatever went wrong goes wrong again where it can be told.
      if (Atomics.load(board, state) === Failed) work(this.kernel.exports, board, at);
    }
    Atomics.store(board, state, STATE.Free);
    this.free.push(place);
    Atomics.store(board, BOARD.first, this.free.at(-1)!);
    const results = at + PLACE.results;
    return {
      value: board[results]! >>> 0,
      scanEnd: board[results + 1]! >>> 0,
      unknownRows: board[results + 2]! >>> 0,
      contents: board[results + 3]!,
    };
  }

  /** Takes back what nobody has begun with and waits for the rest: a compile that failed leaves tasks behind. */
  settle(): void {
    const { board, free, places } = this;
    const { Free, Posted, Taken } = STATE;
    free.length = 0;
    for (let place = places - 1; place >= 0; place--) {
      const state = addressOf(place) + PLACE.state;
      if (Atomics.compareExchange(board, state, Posted, Free) !== Posted)
        while (Atomics.load(board, state) === Taken) Atomics.wait(board, state, Taken);
      Atomics.store(board, state, Free);
      free.push(place);
    }
  }

  close(): void {
    Atomics.store(this.board, BOARD.isOver, 1);
    Atomics.add(this.board, BOARD.posted, 1);
    Atomics.notify(this.board, BOARD.posted);
    for (const thread of this.threads) thread.stop();
  }
}

/** What a thread does until it is told that the work is over. */
export function serve({ memory, seed, boardAt, places, suffixes }: CrewData): void {
  const exports = kernelOver(memory);
  exports.init(seed);
  exports.useSuffixes(...suffixes);
  const board = boardOf(memory, boardAt, places);
  Atomics.add(board, BOARD.present, 1);
  while (Atomics.load(board, BOARD.isOver) === 0) {
    const seen = Atomics.load(board, BOARD.posted);
    if (!takeOne(exports, board, places)) Atomics.wait(board, BOARD.posted, seen);
  }
}

function takeOne(exports: KernelExports, board: Int32Array, places: number): boolean {
  const first = Atomics.load(board, BOARD.first);
  for (let index = 1; index <= places; index++) {
    const at = addressOf((first + places - index) % places);
    const state = at + PLACE.state;
    if (Atomics.compareExchange(board, state, STATE.Posted, STATE.Taken) !== STATE.Posted) continue;
    let outcome: number = STATE.Done;
    try {
      work(exports, board, at);
    } catch {
      outcome = STATE.Failed;
    }
    Atomics.store(board, state, outcome);
    Atomics.notify(board, state);
    return true;
  }
  return false;
}

function work(exports: KernelExports, board: Int32Array, at: number): void {
  const task = TASKS[board[at + PLACE.task]!]!;
  const values = at + PLACE.arguments;
  const results = at + PLACE.results;
  board[results] = exports[task](
    ...board.subarray(values, values + board[at + PLACE.argumentCount]!),
  );
  board[results + 1] = exports.scanEnd.value;
  board[results + 2] = exports.unknownRows.value;
  board[results + 3] = exports.contents.value;
}

function addressOf(place: number): number {
  return BOARD_WORDS + place * PLACE_WORDS;
}

function boardOf({ buffer }: WasmMemory, boardAt: number, places: number): Int32Array {
  return new Int32Array(buffer, boardAt, BOARD_WORDS + places * PLACE_WORDS);
}
