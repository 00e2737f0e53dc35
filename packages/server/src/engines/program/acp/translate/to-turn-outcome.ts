import type { RpcAnswer } from '../../lines/json-rpc.ts';
import type { TurnOutcome } from '../../program.ts';

/** The outcome of a turn, from the response to its prompt. `failure` is the text of an agent that reports a failure as text. */
export function toTurnOutcome(answer: RpcAnswer, isStopping: boolean, failure: string | null): TurnOutcome {
  if (isStopping) return { type: 'stopped' };
  if (answer.type === 'refused') return { type: 'failed', reason: 'unknown', message: answer.message };
  if (failure !== null) return { type: 'failed', reason: 'unknown', message: failure };
  switch (answer.result['stopReason']) {
    case 'cancelled':
      return { type: 'stopped' };
    case 'refusal':
      return { type: 'refused', message: 'The model refused to answer.' };
    case 'max_tokens':
      return { type: 'failed', reason: 'request_failed', message: 'The answer was cut off at the token limit.' };
    case 'max_turn_requests':
      return { type: 'limit', message: 'The agent reached its limit of model requests in one turn.' };
    default:
      return { type: 'done' };
  }
}
