import type { Context } from './context.ts';

/** One statement of the checklist, which holds for a server or does not. */
export interface Check {
  /** The number of the statement in the checklist. */
  readonly number: number;
  readonly grade: Grade;
  readonly group: string;
  /** The statement, as one sentence. */
  readonly statement: string;
  readonly needs: readonly Need[];
  readonly run: (context: Context) => Promise<void>;
}

/** `C`: core, required by every client. `E`: expected by users who run the server themselves. */
export type Grade = 'C' | 'E';

/** Requirements that not every server meets. */
export type Need =
  /** Models `scripted/…`, which play the script in the system prompt. */
  | 'scripts'
  /** The server requires an API key. */
  | 'keys'
  /** The server can be killed and restarted during the check. */
  | 'restart'
  /** No other check runs at the same time. */
  | 'alone';

/** The checks of one part of the checklist. */
export function defineChecks(group: string, checks: readonly Omit<Check, 'group'>[]): readonly Check[] {
  return checks.map((each) => ({ ...each, group }));
}

/** Declares a check. `needs` lists what the server must support for it to apply. */
export function check(
  number: number,
  grade: Grade,
  statement: string,
  needs: readonly Need[],
  run: Check['run'],
): Omit<Check, 'group'> {
  return { number, grade, statement, needs, run };
}
