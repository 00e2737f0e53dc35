import type { Context } from './context.ts';

/** One statement of the checklist, which a server keeps or does not. */
export interface Check {
  /** Its number in the checklist. */
  readonly number: number;
  readonly grade: Grade;
  readonly group: string;
  /** One sentence. */
  readonly statement: string;
  readonly needs: readonly Need[];
  readonly run: (context: Context) => Promise<void>;
}

/** `C`: nothing works without it. `E`: expected by those who run it themselves. */
export type Grade = 'C' | 'E';

/** What not every server can be asked for. */
export type Need =
  /** Models `scripted/…`, which do what the system prompt says. */
  | 'scripts'
  /** That a key is asked for. */
  | 'keys'
  /** Somebody who stops the server in the middle of it all and starts it again. */
  | 'restart'
  /** Nobody else at work at the same time. */
  | 'alone';

/** The checks of one part of the checklist. */
export function defineChecks(group: string, checks: readonly Omit<Check, 'group'>[]): readonly Check[] {
  return checks.map((each) => ({ ...each, group }));
}

export function check(
  number: number,
  grade: Grade,
  statement: string,
  needs: readonly Need[],
  run: Check['run'],
): Omit<Check, 'group'> {
  return { number, grade, statement, needs, run };
}
