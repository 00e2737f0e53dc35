import { resultAskId } from './ask-id.ts';
import type { AskClosedBy } from '../frames/frames.ts';
import { toKeepableAnswer } from './content-size.ts';
import type { WrittenFile } from '../engines/program.ts';
import type { Draft } from './draft.ts';
import { type Answer, type Call, type ThreadState, textAnswer } from './state.ts';

/** The words of the wire for a call that was stopped. */
const interruption = 'Tool execution was interrupted before completion. Please retry.';

/** Writes what a call gave. Results that clients bring are frames of their own. */
export function giveResult(draft: Draft, thread: ThreadState, call: Call, answer: CallAnswer, stop?: Stop): void {
  const closesAsk = openAskOf(call);
  const { content, isError } = toKeepableAnswer(answer);
  const result = {
    content,
    is_error: isError,
    is_interrupted: stop !== undefined,
    duration_ms: 'since' in call.progress ? draft.now - call.progress.since : 0,
    closes_ask: closesAsk,
    ...(closesAsk === null ? {} : toClosing(call, stop)),
  };
  if (call.kind === 'mcp') draft.event(thread, 'agent.mcp_tool_result', { mcp_tool_use_id: call.id, ...result });
  else draft.event(thread, 'agent.tool_result', { tool_use_id: call.id, ...result, ...fileOf(answer) });
}

/** `file`: what a call of a program's tool has written. */
type CallAnswer = Answer & { readonly file?: WrittenFile | undefined };

function fileOf({ isError, file }: CallAnswer): { file?: WrittenFile } {
  return isError || file === undefined ? {} : { file };
}

/** It was stopped: what it had done by then is not known. */
export function giveInterruption(draft: Draft, thread: ThreadState, call: Call, by?: AskClosedBy): void {
  giveResult(draft, thread, call, textAnswer(interruption, true), { by });
}

interface Stop {
  readonly by: AskClosedBy | undefined;
}

/** Only a call that is stopped, or that a program refused on its own, has a result while it could still be answered. */
function openAskOf({ id, kind, progress }: Call): string | null {
  if (progress.type === 'proposed') return kind === 'custom' ? resultAskId(id) : id;
  if (progress.type === 'asking') return id;
  return progress.type === 'outside' ? resultAskId(id) : null;
}

function toClosing({ progress }: Call, stop: Stop | undefined): { readonly closed_by?: AskClosedBy } {
  if (progress.type === 'proposed') return { closed_by: 'not_requested' };
  return stop?.by === undefined ? {} : { closed_by: stop.by };
}
