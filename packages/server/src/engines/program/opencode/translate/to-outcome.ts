import type { TurnFailure, TurnOutcome } from '../../program.ts';
import type { OpencodeError } from '../wire/events.ts';

/** The fields of a run's last message that decide the outcome of the run. */
export interface LastMessage {
  readonly finish: string | null;
  readonly error: OpencodeError | null;
}

/** The outcome of a run, from its last message. `reported` is a `session.error` without a message. */
export function toOutcome(last: LastMessage | null, reported: OpencodeError | null): TurnOutcome {
  const error = last?.error ?? reported;
  if (error !== null) return toFailedOutcome(error);
  switch (last?.finish) {
    case 'length':
      return {
        type: 'failed',
        reason: 'request_failed',
        message: 'The response reached the output limit of the model.',
      };
    case 'content-filter':
      return { type: 'refused', message: 'The model refused to answer.' };
    // The model would have continued: a denial without a message ended the run.
    case 'tool-calls':
      return { type: 'stopped' };
    // An abort while opencode waits to send a request again ends the message without an error.
    case null:
    case undefined:
      return { type: 'stopped' };
    default:
      return { type: 'done' };
  }
}

/** The stop reason of a model request as the Messages API names it. */
export function toStopReason(finish: string | null): string | null {
  return finish === null ? null : (stopReasons.get(finish) ?? finish);
}

/** Whether a response with this finish is incomplete or failed. */
export function isFailedFinish(finish: string | null): boolean {
  return finish === null || finish === 'length' || finish === 'content-filter' || finish === 'error';
}

const stopReasons: ReadonlyMap<string, string> = new Map([
  ['stop', 'end_turn'],
  ['tool-calls', 'tool_use'],
  ['length', 'max_tokens'],
  ['content-filter', 'refusal'],
]);

function toFailedOutcome({ name, message, statusCode }: OpencodeError): TurnOutcome {
  if (name === 'MessageAbortedError') return { type: 'stopped' };
  if (name === 'ContentFilterError') return { type: 'refused', message };
  return { type: 'failed', reason: toFailure(name, message, statusCode), message };
}

function toFailure(name: string, message: string, status: number | null): TurnFailure {
  if (name === 'ProviderAuthError' || status === 401 || status === 403) return 'authentication';
  if (status === 402 || /credit balance|billing/i.test(message)) return 'billing';
  if (status === 429) return 'rate_limited';
  if (status === 529 || /overloaded/i.test(message)) return 'overloaded';
  if (status !== null) return 'request_failed';
  return name === 'UnknownError' ? 'unknown' : 'request_failed';
}
