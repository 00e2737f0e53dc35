import type { TurnComplete } from '@fleetloom/protocol/stream-json';
import type { TurnFailure, TurnOutcome } from '../../program.ts';

/**
 * The outcome of a turn of the main agent. `error` is the program's error code, if it has one. `refusal` is why a hook
 * rejected the message of the turn: the program counts that as a success, and its model has not read the message.
 */
export function toTurnOutcome(turn: TurnComplete, error: string | undefined, refusal?: string): TurnOutcome {
  if (refusal !== undefined) return { type: 'failed', reason: 'unknown', message: refusal };
  if (!turn.isError) return { type: 'done' };
  const message = turn.errors?.join('\n') || turn.result || turn.subtype || 'the turn failed';
  if (turn.terminalReason?.startsWith('aborted') === true) return { type: 'stopped' };
  if (turn.subtype?.startsWith('error_max_') === true) return { type: 'limit', message };
  if (turn.stopReason === 'refusal') return { type: 'refused', message };
  return { type: 'failed', reason: toFailure(error ?? '', message), message };
}

function toFailure(error: string, message: string): TurnFailure {
  const known = failures.get(error) ?? byStatus(Number(/API Error: (\d{3})\b/.exec(message)?.[1]));
  if (known !== undefined) return known;
  if (error === 'server_error' && /overloaded/i.test(message)) return 'overloaded';
  return error === 'unknown' || error === '' ? 'unknown' : 'request_failed';
}

const failures: ReadonlyMap<string, TurnFailure> = new Map([
  ['authentication_failed', 'authentication'],
  ['oauth_org_not_allowed', 'authentication'],
  ['billing_error', 'billing'],
  ['rate_limit', 'rate_limited'],
]);

/** The reason by HTTP status: for errors without a code of its own, the program prints the status of the endpoint's response. */
function byStatus(status: number): TurnFailure | undefined {
  if (status === 529) return 'overloaded';
  if (status === 402) return 'billing';
  return status >= 400 && status < 500 ? 'request_failed' : undefined;
}
