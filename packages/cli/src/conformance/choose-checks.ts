import { UsageError } from '../base/usage-error.ts';
import type { Check } from './harness/check.ts';

/** The checks that `--only 85,87-90` names; all checks without `--only`. */
export function chooseChecks(checks: readonly Check[], only: string | undefined): readonly Check[] {
  if (only === undefined) return checks;
  const ranges = only.split(',').map(toRange);
  const chosen = checks.filter(({ number }) => ranges.some(([first, last]) => number >= first && number <= last));
  if (chosen.length === 0) throw new UsageError(`There is no check ${only}.`, FIX);
  return chosen;
}

function toRange(text: string): readonly [first: number, last: number] {
  const found = /^\s*(\d{1,4})\s*(?:-\s*(\d{1,4})\s*)?$/.exec(text);
  if (found === null) throw new UsageError(`"${text}" names no check.`, FIX);
  const first = Number(found[1]);
  return [first, found[2] === undefined ? first : Number(found[2])];
}

const FIX = 'Give numbers of the checklist, such as --only 85,87-90.';
