import { FleetloomError } from '../../../base/errors.ts';
import { sessionLimits } from '../../core/limits.ts';
import type { NewKey } from '../../../store/records.ts';
import { codes, type SessionErrorCode, sessionError } from '../../core/session-errors.ts';

/** The outcome of a command, as the owner of the session returns it to the caller. */
export type CommandOutcome =
  /** `count`: the approvals that were answered by rules. */
  | { readonly type: 'done'; readonly count?: number }
  /** The state that the command was made on has changed. */
  | { readonly type: 'outdated' }
  | { readonly type: 'refused'; readonly code: SessionErrorCode; readonly problem: string };

/** Converts a session error into data. Any other error is not a refusal and is thrown again. */
export function toRefusal(error: unknown): Extract<CommandOutcome, { type: 'refused' }> {
  if (!(error instanceof FleetloomError) || !Object.hasOwn(codes, error.code)) throw error;
  const code = error.code as SessionErrorCode;
  const advice = `: ${codes[code]}`;
  const problem = error.message.endsWith(advice) ? error.message.slice(0, -advice.length) : error.message;
  return { type: 'refused', code, problem };
}

/** Throws the session error of a refused command. */
export function throwRefusal(outcome: CommandOutcome): void {
  if (outcome.type === 'refused') throw sessionError(outcome.code, outcome.problem);
}

/** The key under which the outcome of a command is stored. */
export function outcomeKey(commandId: string): string {
  return `command ${commandId}`;
}

/** The outcome as a key record. It is committed with the frames of the command, so that both exist or neither. */
export function toOutcomeKey(commandId: string, outcome: CommandOutcome, now: number): NewKey {
  return { key: outcomeKey(commandId), expiresAt: now + sessionLimits.commandOutcomeMs, result: outcome };
}
