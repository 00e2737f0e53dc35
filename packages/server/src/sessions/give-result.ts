import { resultAskId } from './ask-id.ts';
import type { Draft } from './draft.ts';
import { type Answer, type Call, type ThreadState, textAnswer } from './state.ts';

/** The words of the wire for a call that was stopped. */
const interruption = 'Tool execution was interrupted before completion. Please retry.';

/** Writes what a call gave. Results that clients bring are frames of their own. */
export function giveResult(draft: Draft, thread: ThreadState, call: Call, answer: Answer, isInterrupted = false): void {
  const result = {
    content: answer.content,
    is_error: answer.isError,
    is_interrupted: isInterrupted,
    duration_ms: 'since' in call.progress ? draft.now - call.progress.since : 0,
    closes_ask: openAskOf(call),
  };
  if (call.kind === 'mcp') draft.event(thread, 'agent.mcp_tool_result', { mcp_tool_use_id: call.id, ...result });
  else draft.event(thread, 'agent.tool_result', { tool_use_id: call.id, ...result });
}

/** It was stopped: what it had done by then is not known. */
export function giveInterruption(draft: Draft, thread: ThreadState, call: Call): void {
  giveResult(draft, thread, call, textAnswer(interruption, true), true);
}

/** Only one that is stopped gets a result from us while somebody outside is still to answer. */
function openAskOf({ id, progress }: Call): string | null {
  if (progress.type === 'asking') return id;
  return progress.type === 'outside' ? resultAskId(id) : null;
}
