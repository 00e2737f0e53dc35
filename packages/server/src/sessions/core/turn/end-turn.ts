import type { InputBlock } from '../../../base/content.ts';
import type { Draft } from '../draft.ts';
import { cancelModelRequest } from './cancel-model-request.ts';
import type { SessionError, TurnEnd } from '../../../frames/payload-parts.ts';
import { addInterruptedResult } from './add-tool-result.ts';
import { describeUnmerged } from './describe-unmerged.ts';
import { endTurn as plainEnd, openCallsOf, type Stopped, type ThreadState, threadOf } from '../state/state.ts';

/** How a turn ends. */
export interface TurnOutcome {
  readonly end: TurnEnd;
  readonly error: string | null;
  /** Whether the parent thread gets a report. It does not when it was interrupted itself. */
  readonly isReported: boolean;
}

/** Closes a turn: the parent gets a report, and the thread is idle until its next message. */
export function closeTurn(draft: Draft, thread: ThreadState, outcome: TurnOutcome & { readonly stop: Stopped }): void {
  const { stop } = outcome;
  end(draft, thread, outcome);
  draft.event(thread, 'session.thread_status_idle', {
    session_thread_id: thread.id,
    agent_name: thread.agentName,
    stop_reason: stop.reason,
    stop_details: stop.details,
  });
}

/** Ends a turn with an error and drops the messages that waited behind it. A child thread is terminated. */
export function failTurn(draft: Draft, thread: ThreadState, error: SessionError): void {
  draft.event(thread, 'session.error', { error, retry: 'exhausted', retry_at: null });
  // Reports of other agents to the primary thread are kept for its next turn: they would not be sent again.
  const waiting = thread.inbox.filter(({ type }) => type !== 'letter' || thread.parentId !== null);
  if (waiting.length > 0) draft.add(thread, 'turn.flushed', { message_ids: waiting.map(({ id }) => id) });
  const stop: Stopped = { reason: { type: 'retries_exhausted' }, details: null };
  closeTurn(draft, thread, { end: 'error', error: error.message, stop, isReported: true });
  if (thread.parentId !== null) showTerminated(draft, thread, { isArchived: false });
}

/** Ends a turn that was interrupted. */
export function cancelTurn(draft: Draft, thread: ThreadState, { isReported }: Pick<TurnOutcome, 'isReported'>): void {
  closeTurn(draft, thread, { end: 'cancelled', error: 'it was interrupted', stop: plainEnd, isReported });
}

/** Terminates a thread. An open turn ends where it is, with a result for every call. */
export function terminate(draft: Draft, thread: ThreadState, ending: TurnOutcome & { isArchived: boolean }): void {
  if (thread.turn !== null) {
    cancelModelRequest(draft, thread);
    const by = ending.end === 'error' ? 'error' : 'archive';
    for (const call of openCallsOf(thread)) addInterruptedResult(draft, thread, call, by);
    end(draft, thread, ending);
  }
  showTerminated(draft, thread, ending);
}

function end(draft: Draft, thread: ThreadState, outcome: TurnOutcome): void {
  if (outcome.isReported && thread.parentId !== null) report(draft, thread, outcome);
  const { end: reason, error } = outcome;
  draft.add(thread, 'turn.ended', { ok: reason === 'end_turn', stop_reason: reason, error });
}

function showTerminated(draft: Draft, thread: ThreadState, { isArchived }: { isArchived: boolean }): void {
  draft.event(thread, 'session.thread_status_terminated', {
    session_thread_id: thread.id,
    agent_name: thread.agentName,
    is_archived: isArchived,
  });
}

function report(draft: Draft, thread: ThreadState, { end, error }: TurnOutcome): void {
  const parent = threadOf(draft.state, thread.parentId!);
  const isError = end !== 'end_turn';
  const content = toReport(thread, end, error);
  draft.event(thread, 'agent.thread_message_sent', {
    to_session_thread_id: parent.id,
    to_agent_name: parent.parentId === null ? null : parent.agentName,
    content,
  });
  if (parent.status === 'terminated') return;
  const call = thread.joinedBy === null ? undefined : parent.calls.get(thread.joinedBy.toolUseId);
  draft.event(parent, 'agent.thread_message_received', {
    from_session_thread_id: thread.id,
    from_agent_name: thread.agentName,
    content,
    // A program delivers messages to its agents itself.
    is_processed: thread.programKey !== null,
    answers_call: call?.progress.type === 'joining' ? call.id : null,
    is_error: isError,
  });
}

/** The last text of the agent. If it did not finish, the error comes first, so that a part is not read as the whole. */
function toReport(thread: ThreadState, end: TurnEnd, error: string | null): readonly InputBlock[] {
  const said = thread.turn?.said ?? '';
  const problem = end === 'end_turn' ? null : `ERR: ${thread.agentName} did not finish: ${error ?? end}`;
  const texts = [problem, said === '' ? null : said].filter((text) => text !== null);
  const text = texts.length > 0 ? texts.join('\n\n') : `${thread.agentName} ended without saying anything.`;
  const changes = describeUnmerged(thread);
  return [{ type: 'text', text }, ...(changes === null ? [] : [{ type: 'text' as const, text: changes }])];
}
