/** One figure of a bench. `floor`: the figure to compare with, in the same unit and from the same run. */
export interface Measured {
  value: number;
  unit: string;
  floor: number | null;
  ratio: number | null;
  goal: string;
  ok: boolean;
}

export interface Bench {
  name: string;
  cases: { name: string; run: () => Measured | Promise<Measured> }[];
}

/** One line of the report; its fields are those of `--json`. */
export interface Row extends Measured {
  bench: string;
  case: string;
}

export interface Pair {
  floor: () => void | Promise<void>;
  ours: () => void | Promise<void>;
}

export interface PairOptions {
  rounds?: number;
  budgetMs?: number;
  /**
   * `wall` by default. `cpu` for pure computations: the CPU time of the process, its garbage collector's
   * threads included, so that other processes on the machine do not count.
   */
  clock?: 'wall' | 'cpu';
}

export interface PairTimes {
  floorMs: number;
  oursMs: number;
  /** Median of ours / floor, each taken within one round. */
  ratio: number;
}

/** Runs before the measured rounds, so that all code is compiled. */
const WARM_UPS = 5;

/**
 * Measures two implementations side by side.
 *
 * Shared machines are noisy for seconds at a time. So both run in every round, one right after the other and in alternating
 * order, and the result is the median of the ratios of the rounds, not the ratio of two averages.
 */
export async function comparePair({ floor, ours }: Pair, options: PairOptions = {}): Promise<PairTimes> {
  const { rounds = 21, budgetMs = 4_000, clock = 'wall' } = options;
  const timeMs = (run: () => void | Promise<void>) => measureMs(run, CLOCKS[clock]);
  const deadline = performance.now() + budgetMs;
  for (let warmUp = 0; warmUp < WARM_UPS; warmUp++) {
    await timeMs(floor);
    await timeMs(ours);
  }
  const floors: number[] = [];
  const all: number[] = [];
  while (all.length < rounds && (all.length < 3 || performance.now() < deadline)) {
    if (all.length % 2 === 0) floors.push(await timeMs(floor));
    all.push(await timeMs(ours));
    if (floors.length < all.length) floors.push(await timeMs(floor));
  }
  const ratios = all.map((oursMs, round) => oursMs / floors[round]!);
  return { floorMs: median(floors), oursMs: median(all), ratio: median(ratios) };
}

/** The measured work may take at most this many times as long as the floor. */
export function atMost(limit: number, { floorMs, oursMs, ratio }: PairTimes): Measured {
  return { value: oursMs, unit: 'ms', floor: floorMs, ratio, goal: `<= ${limit}x`, ok: ratio <= limit };
}

/** The measured work must be this many times faster than the floor; without a limit the factor is only reported. */
export function timesFaster(limit: number | undefined, { floorMs, oursMs, ratio }: PairTimes): Measured {
  const factor = 1 / ratio;
  const goal = limit === undefined ? 'reported, x faster' : `>= ${limit}x faster`;
  return { value: oursMs, unit: 'ms', floor: floorMs, ratio: factor, goal, ok: limit === undefined || factor >= limit };
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Live bytes of the heap after a garbage collection. Needs `node --expose-gc`. */
export function heapBytes(): number {
  for (let round = 0; round < 3; round++) collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const CLOCKS = {
  wall: () => performance.now(),
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

async function measureMs(run: () => void | Promise<void>, nowMs: () => number): Promise<number> {
  // No forced collection before it: that throws away the hidden classes of parsed objects, of which none is alive between
  // two runs, and with them the compiled code that relies on them. The run would measure the compiler.
  const start = nowMs();
  const done = run();
  if (done !== undefined) await done;
  return nowMs() - start;
}

function collectGarbage(): void {
  if (globalThis.gc === undefined) throw new Error('start it with npm run bench, or with node --expose-gc');
  globalThis.gc();
}
