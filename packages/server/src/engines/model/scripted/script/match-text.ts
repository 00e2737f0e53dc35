import {
  type BoundedPattern,
  compileBounded,
  includesText,
  type WorkBudget,
} from '../../../../base/bounded-pattern.ts';
import { PatternError } from '../../../../base/linear-regex.ts';
import { limits } from '../limits.ts';
import { InvalidInput } from './invalid-input.ts';

/**
 * Whether the regular expression matches. A script may come from any client that can send a message, so V8 never
 * runs its expressions, and a request has a budget for all of them.
 */
export function matchText(source: string, text: string, path: string, budget: WorkBudget): boolean {
  return orInvalidInput(path, () => compileMatch(source).test(text, budget));
}

/**
 * The last match of the expression: its first group, or the whole match without groups; undefined without a match. It searches
 * one line at a time, from the last one up: finding all matches in a long text may take quadratic time.
 */
export function findText(source: string, text: string, path: string, budget: WorkBudget): string {
  return orInvalidInput(path, () => {
    const pattern = compileMatch(source);
    for (let end = text.length; end >= 0; ) {
      const start = end === 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1;
      const found = pattern.findLast(text.slice(start, end), budget);
      if (found !== undefined) return found.groups[0] ?? found.text;
      end = start - 1;
    }
    return '';
  });
}

/** Whether a text is part of another one. */
export function holdsText(text: string, wanted: string, path: string, budget: WorkBudget): boolean {
  return orInvalidInput(path, () => includesText(text, wanted, budget));
}

/** Throws a {@link PatternError}. */
export function compileMatch(source: string): BoundedPattern {
  const known = kept.get(source);
  const pattern = known ?? compileBounded(source);
  // The least recently used expression is evicted first.
  kept.delete(source);
  kept.set(source, pattern);
  const [oldest] = kept.keys();
  if (kept.size > limits.matchesKeptMax && oldest !== undefined) kept.delete(oldest);
  return pattern;
}

const kept = new Map<string, BoundedPattern>();

function orInvalidInput<Found>(path: string, find: () => Found): Found {
  try {
    return find();
  } catch (error) {
    if (error instanceof PatternError) throw new InvalidInput(path, `cannot be searched for: ${error.message}`);
    throw error;
  }
}
