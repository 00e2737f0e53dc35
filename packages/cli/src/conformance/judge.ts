import type { Result } from './run-checks.ts';

/** The verdict on a result, given the known gaps of the server. */
export type Verdict =
  | { readonly type: 'passed' }
  | { readonly type: 'failed'; readonly expected: string; readonly seen: string }
  | { readonly type: 'not_applicable'; readonly reason: string }
  /** The check failed and is a known gap. */
  | { readonly type: 'known_gap'; readonly reason: string }
  /** The check passed although it is listed as a known gap. */
  | { readonly type: 'stale_gap'; readonly reason: string };

/** The verdict on a result: the failure of a known gap is expected, and its success means that the gap is stale. */
export function judge({ check, outcome }: Result, gaps: ReadonlyMap<number, string>): Verdict {
  const reason = gaps.get(check.number);
  if (reason === undefined || outcome.type === 'not_applicable') return outcome;
  return { type: outcome.type === 'failed' ? 'known_gap' : 'stale_gap', reason };
}

/** Whether the verdict fails the whole run. */
export function isBad({ type }: Verdict): boolean {
  return type === 'failed' || type === 'stale_gap';
}
