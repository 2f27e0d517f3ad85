import process from "node:process";

/** How the CPU time of a piece of work grows with the size of its input. */
export interface Growth {
  /** The least CPU time in milliseconds of the input, of twice and of four times the input. */
  readonly times: readonly number[];
  /** Time grows with the size to the power of this. */
  readonly exponent: number;
}

export interface GrowthLimits {
  /** The largest exponent to accept; more rounds are measured while it is exceeded. */
  readonly most: number;
  readonly mostRounds: number;
  /** Leaves out the smallest input, where fixed costs hide the growth. */
  readonly isLastDoublingOnly?: boolean;
  /** Below this time the garbage collector is measured, so the exponent is 0. */
  readonly leastMs?: number;
}

type Work = () => Promise<unknown>;

/**
 * Measures work on one, two and four times an input, in rounds of all three. What `prepare` does is not measured.
 *
 * Other processes on the machine only add time. Two estimates resist that in different ways, and the smaller one
 * counts: the least time of each size needs one quiet moment a size, the median of the rounds' own exponents needs a
 * load that is the same within a round. Work that really grows faster exceeds the limit in both.
 */
export async function growthOf(
  prepare: (factor: number) => Work,
  { most, mostRounds, isLastDoublingOnly = false, leastMs = 0 }: GrowthLimits,
): Promise<Growth> {
  const sizes = [prepare(1), prepare(2), prepare(4)] as const;
  const first = isLastDoublingOnly ? 1 : 0;
  const exponentOf = (times: readonly number[]): number =>
    Math.log2(times[2]! / times[first]!) / (2 - first);
  let times: readonly number[] = sizes.map(() => Infinity);
  const exponents: number[] = [];
  await sizes[0]();
  let exponent = Infinity;
  while (exponents.length < mostRounds && (exponents.length < 2 || exponent > most)) {
    const round: number[] = [];
    for (const work of sizes) round.push(await cpuTimeOf(work));
    times = times.map((least, at) => Math.min(least, round[at]!));
    exponents.push(exponentOf(round));
    exponent = times[2]! < leastMs ? 0 : Math.min(exponentOf(times), median(exponents));
  }
  return { times, exponent };
}

async function cpuTimeOf(work: Work): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** Of an even number of values the larger middle one. */
function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1]!;
}
