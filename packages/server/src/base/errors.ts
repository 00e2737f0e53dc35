import { cutText } from '@fleetloom/protocol/fleet';
import { baseLimits } from './limits.ts';

/**
 * Whose turn it is now. `caller`: the request has to be changed. `retryable`: the same request may work later.
 * `terminal`: it never will, and no other one would. Which status of HTTP that is, only `http` knows.
 */
export type ErrorKind = 'caller' | 'retryable' | 'terminal';

/** The parts of an error; its message is made of the problem and the advice. */
export interface FleetloomErrorFields {
  /** For programs: stays the same when the words change, e.g. `agent_archived`. */
  code: string;
  kind: ErrorKind;
  /** What is wrong, without full stop: `agent_01… is archived`. */
  problem: string;
  /** What to do about it, without full stop: `create a session with another agent`. */
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

/** `problem: advice`, each cut where it is too long; the advice keeps at least half of the room. */
function toMessage(problem: string, advice: string): string {
  const end = `: ${cut(advice, baseLimits.errorMessageCharsMax / 2)}`;
  return `${cut(problem, baseLimits.errorMessageCharsMax - end.length)}${end}`;
}

function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${cutText(text, charsMax - 1)}…`;
}
