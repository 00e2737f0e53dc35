import type { InternalCommand } from './command.ts';
import { isDeeper } from '../../base/json/is-deeper.ts';
import { findExcessBytes, jsonBytesAtLeast } from '../../base/json/json-bytes.ts';
import { baseLimits } from '../../base/limits.ts';
import { atMostOfHeap } from '../../base/process/heap-room.ts';
import { sessionLimits } from './limits.ts';
import type { EngineFailure } from '../../engines/model/engine.ts';
import { contentBytesOf } from './state/content-bytes.ts';
import { type Answer, type SessionState, textAnswer } from './state/state.ts';

// Content has to fit into a frame. A session with larger content would fail to write, recover, and fail again without end; so
// oversized content becomes a failure before it is part of the session. The same holds for the content of a session as a whole:
// a session that does not fit into the memory would end the process, and the next one that opens it.

/** The part of the state with the content of the session. */
type Content = Pick<SessionState, 'threads'>;

/** Replaces a model response or summary that is too large for the log by a failed request. */
export function rejectOversized(command: InternalCommand, state: Content): InternalCommand {
  if (command.type === 'answered') {
    const { threadId, answered } = command;
    const { startId, costNanoUsd, event } = answered;
    const { usage, model } = event;
    const failure = toFailure('request_failed', state, 'the answer', event.content);
    return failure === null
      ? command
      : { type: 'failed', threadId, failed: { startId, failure, usage, costNanoUsd, model, delayMs: 0 } };
  }
  if (command.type === 'summarised') {
    const { threadId, summarised } = command;
    const { startId, costNanoUsd, usage, model, history } = summarised;
    // A summary replaces a history, so it is not added to the session.
    const failure = toFailure('context_exceeded', null, 'the history that the summary leaves', history);
    return failure === null
      ? command
      : { type: 'failed', threadId, failed: { startId, failure, usage, costNanoUsd, model, delayMs: 0 } };
  }
  return command;
}

/** Replaces a tool result that is too large for the log by an error. */
export function rejectOversizedResult(answer: Answer, state: Content): Answer {
  const problem =
    findSizeProblem('the result', answer.content) ?? findSessionProblem('the result', state, answer.content);
  return problem === null
    ? answer
    : textAnswer(`ERR: ${problem}: ask for less at a time, or have it put into a file`, true);
}

/** An error message if content is too large or too deeply nested for the log; otherwise null. */
export function findSizeProblem(what: string, content: unknown): string | null {
  const { contentDepthMax } = baseLimits;
  if (isDeeper(content, contentDepthMax)) {
    return `${what} is nested too deep, and ${contentDepthMax} levels are allowed`;
  }
  const bytes = findExcessBytes(content, sessionLimits.contentBytesMax);
  return bytes === undefined ? null : `${what} has ${bytes} bytes, and ${sessionLimits.contentBytesMax} are allowed`;
}

/** The content that a session may have. */
export const SESSION_BYTES_MAX = Math.floor(
  atMostOfHeap(sessionLimits.sessionBytesMax, sessionLimits.sessionHeapShare),
);

/** An error message if the session would have too much content with what is added; otherwise null. */
function findSessionProblem(what: string, state: Content, content: unknown): string | null {
  const added = jsonBytesAtLeast(content);
  // Errors and short results are always accepted: a turn ends with them.
  if (added <= sessionLimits.unmeasuredBytes) return null;
  const bytes = contentBytesOf(state) + added;
  return bytes <= SESSION_BYTES_MAX ? null : toSessionProblem(what, bytes);
}

/** The message for content that does not fit into its session. */
export function toSessionProblem(what: string, bytes: number): string {
  return `the session has ${bytes} bytes of content with ${what}, and ${SESSION_BYTES_MAX} are allowed`;
}

function toFailure(
  reason: EngineFailure['reason'],
  state: Content | null,
  what: string,
  content: unknown,
): EngineFailure | null {
  const message = findSizeProblem(what, content) ?? (state && findSessionProblem(what, state, content));
  return message === null ? null : { reason, message, consequence: 'turn', retryAfterMs: null };
}
