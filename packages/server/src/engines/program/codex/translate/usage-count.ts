import type { Usage } from '../../../model/engine.ts';
import { number, record, tokenCount } from '../../lines/values.ts';

/**
 * The usage of single model requests of one thread. The program reports totals of the thread, and repeats them: when a thread
 * is resumed or forked, around a compaction, after a failed request. Only what a total grew by was used, and nothing that
 * was used before this process is counted again.
 */
export class UsageCount {
  #total: Counts | undefined;

  /** What was used since the report before; null if nothing was. `isInTurn`: the report belongs to a turn that is under way. */
  take(tokenUsage: unknown, isInTurn: boolean): Usage | null {
    const reported = record(tokenUsage);
    const before = this.#total;
    const total = readCounts(reported?.['total'], before);
    this.#total = total;
    // A thread whose history is older than this process begins with a total that says nothing about its request.
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
  // A total without a number stays as it was: otherwise the next one would count everything again.
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

/** The input of the program includes what came from and went into the cache. */
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
