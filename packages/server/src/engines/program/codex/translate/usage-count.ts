import type { Usage } from '../../../model/engine.ts';
import { number, record, tokenCount } from '../../lines/values.ts';

/**
 * The usage of single model requests of one thread. The program reports totals of the thread, and repeats them: when a thread
 * is resumed or forked, around a compaction, after a failed request. Only the growth of a total is counted, and usage
 * from before this process is not counted again.
 */
export class UsageCount {
  #total: Counts | undefined;

  /** Returns the usage since the previous report; null if there was none. `isInTurn`: the report belongs to the running turn. */
  take(tokenUsage: unknown, isInTurn: boolean): Usage | null {
    const reported = record(tokenUsage);
    const before = this.#total;
    const total = readCounts(reported?.['total'], before);
    this.#total = total;
    // The first total of a thread may include requests from before this process.
    if (before === undefined) return isInTurn ? toUsage(atMost(readCounts(reported?.['last']), total)) : null;
    return toUsage(minus(total, before));
  }
}

interface Counts {
  readonly input: number;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly output: number;
}

/** `totalTokens` is not read: when the context is full the program sets it to the size of the window. */
function readCounts(value: unknown, before: Counts = none): Counts {
  const counts = record(value);
  // A missing count keeps its previous value: otherwise the next total would count everything again.
  const read = (name: string, known: number) =>
    number(counts?.[name]) === undefined ? known : tokenCount(counts?.[name]);
  return {
    input: read('inputTokens', before.input),
    cached: read('cachedInputTokens', before.cached),
    cacheWrite: read('cacheWriteInputTokens', before.cacheWrite),
    output: read('outputTokens', before.output),
  };
}

const none: Counts = { input: 0, cached: 0, cacheWrite: 0, output: 0 };

function combine(one: Counts, other: Counts, how: (a: number, b: number) => number): Counts {
  return {
    input: how(one.input, other.input),
    cached: how(one.cached, other.cached),
    cacheWrite: how(one.cacheWrite, other.cacheWrite),
    output: how(one.output, other.output),
  };
}

const minus = (one: Counts, other: Counts) => combine(one, other, (a, b) => Math.max(0, a - b));
const atMost = (one: Counts, other: Counts) => combine(one, other, Math.min);

/** Converts counts to usage. The program's input count includes tokens that were read from and written to the cache. */
function toUsage({ input, cached, cacheWrite, output }: Counts): Usage | null {
  if (input === 0 && output === 0) return null;
  return {
    inputTokens: Math.max(0, input - cached - cacheWrite),
    outputTokens: output,
    cacheReadTokens: cached,
    cacheWrite5mTokens: cacheWrite,
    cacheWrite1hTokens: 0,
  };
}
