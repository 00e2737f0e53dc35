import { FleetloomError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import type { NewKey } from '../../store/records.ts';
import { codes, type SessionErrorCode, sessionError } from '../session-errors.ts';

/** What became of a command, as its owner tells whoever asked. */
export type CommandOutcome =
  | { readonly type: 'done' }
  /** It was made on something that is no more. */
  | { readonly type: 'outdated' }
  | { readonly type: 'refused'; readonly code: SessionErrorCode; readonly problem: string };

/** What a refusal is as data. Anything else is no refusal and is thrown on. */
export function toRefusal(error: unknown): Extract<CommandOutcome, { type: 'refused' }> {
  if (!(error instanceof FleetloomError) || !Object.hasOwn(codes, error.code)) throw error;
  const code = error.code as SessionErrorCode;
  const advice = `: ${codes[code]}`;
  const problem = error.message.endsWith(advice) ? error.message.slice(0, -advice.length) : error.message;
  return { type: 'refused', code, problem };
}

/** Throws what the owner refused, in its words. */
export function throwRefusal(outcome: CommandOutcome): void {
  if (outcome.type === 'refused') throw sessionError(outcome.code, outcome.problem);
}

/** Where the outcome of a command is found. */
export function outcomeKey(commandId: string): string {
  return `command ${commandId}`;
}

/** Written together with what was done, so that it is told exactly if it was done. */
export function toOutcomeKey(commandId: string, outcome: CommandOutcome, now: number): NewKey {
  return { key: outcomeKey(commandId), expiresAt: now + limits.commandOutcomeMs, result: outcome };
}
