import type { Result } from './run-checks.ts';

/** What a result means once it is known what is not expected of the server. */
export type Verdict =
  | { readonly type: 'passed' }
  | { readonly type: 'failed'; readonly expected: string; readonly seen: string }
  | { readonly type: 'not_applicable'; readonly reason: string }
  /** It failed, as everybody knows. */
  | { readonly type: 'known_gap'; readonly reason: string }
  /** It passed, although a list says that it does not. */
  | { readonly type: 'stale_gap'; readonly reason: string };

export function judge({ check, outcome }: Result, gaps: ReadonlyMap<number, string>): Verdict {
  const reason = gaps.get(check.number);
  if (reason === undefined || outcome.type === 'not_applicable') return outcome;
  return { type: outcome.type === 'failed' ? 'known_gap' : 'stale_gap', reason };
}

export function isBad({ type }: Verdict): boolean {
  return type === 'failed' || type === 'stale_gap';
}
