import { isDeeper } from '../base/is-deeper.ts';
import { jsonBytesAtMost } from '../base/json-bytes.ts';
import { limits } from '../base/limits.ts';
import type { EngineFailure } from '../engines/engine.ts';
import type { Happening } from './decide.ts';
import { type Answer, textAnswer } from './state.ts';

// What is written to a log has to fit into a frame. A session that tried it with more would fail to write, begin again
// where it was, and fail again for ever; so whatever is too large becomes a failure before it is part of the session.

/** What happened, or that it cannot be kept: an answer that is too large is none. */
export function toKeepable(command: Happening): Happening {
  if (command.type === 'answered') {
    const { threadId, answered } = command;
    const { startId, costNanoUsd, event } = answered;
    const { usage, model } = event;
    const failure = toFailure('request_failed', 'the answer', event.content);
    return failure === null
      ? command
      : { type: 'failed', threadId, failed: { startId, failure, usage, costNanoUsd, model, delayMs: 0 } };
  }
  if (command.type === 'summarised') {
    const { threadId, summarised } = command;
    const { startId, costNanoUsd, usage, model, history } = summarised;
    const failure = toFailure('context_exceeded', 'the history that the summary leaves', history);
    return failure === null
      ? command
      : { type: 'failed', threadId, failed: { startId, failure, usage, costNanoUsd, model, delayMs: 0 } };
  }
  return command;
}

/** What a call gave, or that it cannot be kept. */
export function toKeepableAnswer(answer: Answer): Answer {
  const problem = findProblem('the result', answer.content);
  return problem === null
    ? answer
    : textAnswer(`ERR: ${problem}: ask for less at a time, or have it put into a file`, true);
}

/** A sentence if it is larger than what may come into a session at once, or so deep that it cannot be written. */
export function findProblem(what: string, content: unknown): string | null {
  const { contentDepthMax } = limits;
  if (isDeeper(content, contentDepthMax)) {
    return `${what} is nested too deep, and ${contentDepthMax} levels are allowed`;
  }
  if (jsonBytesAtMost(content) <= limits.contentBytesMax) return null;
  const bytes = Buffer.byteLength(JSON.stringify(content));
  return bytes <= limits.contentBytesMax
    ? null
    : `${what} has ${bytes} bytes, and ${limits.contentBytesMax} are allowed`;
}

function toFailure(reason: EngineFailure['reason'], what: string, content: unknown): EngineFailure | null {
  const message = findProblem(what, content);
  return message === null ? null : { reason, message, consequence: 'turn', retryAfterMs: null };
}
