import { cutText } from '@fleetloom/protocol/fleet';
import { baseLimits } from './limits.ts';

/**
 * What would make the request succeed. `caller`: changing the request. `retryable`: sending the same request later.
 * `terminal`: nothing would. Only the `http` folder maps it to a status.
 */
export type ErrorKind = 'caller' | 'retryable' | 'terminal';

/** The parts of an error. Its message consists of the problem and the advice. */
export interface FleetloomErrorFields {
  /** For programs; does not change when the message is reworded, for example `agent_archived`. */
  code: string;
  kind: ErrorKind;
  /** What is wrong, without a full stop: `agent_01… is archived`. */
  problem: string;
  /** What to do about it, without a full stop: `create a session with another agent`. */
  advice: string;
  cause?: unknown;
}

/**
 * An error that a caller or operator can act on. It always includes advice.
 *
 * @example
 * throw new FleetloomError({
 *   code: 'body_too_large',
 *   kind: 'caller',
 *   problem: 'the body has 70000000 bytes, and 33554432 are allowed',
 *   advice: 'send the files one by one',
 * });
 */
export class FleetloomError extends Error {
  override readonly name = 'FleetloomError';
  readonly code: string;
  readonly kind: ErrorKind;

  constructor({ code, kind, problem, advice, ...rest }: FleetloomErrorFields) {
    super(toMessage(problem, advice), rest);
    this.code = code;
    this.kind = kind;
  }
}

/** `problem: advice`, each cut if it is too long; at least half of the length is for the advice. */
function toMessage(problem: string, advice: string): string {
  const end = `: ${cut(advice, baseLimits.errorMessageCharsMax / 2)}`;
  return `${cut(problem, baseLimits.errorMessageCharsMax - end.length)}${end}`;
}

function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${cutText(text, charsMax - 1)}…`;
}
