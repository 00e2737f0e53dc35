import type { TurnComplete } from '@fleetloom/protocol/stream-json';
import type { TurnFailure, TurnOutcome } from '../program.ts';

/** How a turn of the main agent ended. `error` is the program's own code of what went wrong, where it gave one. */
export function toTurnOutcome(turn: TurnComplete, error: string | undefined): TurnOutcome {
  if (!turn.isError) return { type: 'done' };
  const message = turn.errors?.join('\n') || turn.result || turn.subtype || 'the turn failed';
  if (turn.terminalReason?.startsWith('aborted') === true) return { type: 'stopped' };
  if (turn.subtype?.startsWith('error_max_') === true) return { type: 'limit', message };
  if (turn.stopReason === 'refusal') return { type: 'refused', message };
  return { type: 'failed', reason: toFailure(error ?? '', message), message };
}

function toFailure(error: string, message: string): TurnFailure {
  if (error === 'authentication_failed' || error === 'oauth_org_not_allowed') return 'authentication';
  if (error === 'billing_error') return 'billing';
  if (error === 'rate_limit') return 'rate_limited';
  if (error === 'server_error') return /overloaded/i.test(message) ? 'overloaded' : 'request_failed';
  return error === 'unknown' || error === '' ? 'unknown' : 'request_failed';
}
