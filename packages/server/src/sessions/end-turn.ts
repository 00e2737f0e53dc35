import type { InputBlock } from '../base/content.ts';
import type { Draft } from './draft.ts';
import { dropRequest } from './drop-request.ts';
import type { SessionError, TurnEnd } from '../frames/frames.ts';
import { giveInterruption } from './give-result.ts';
import { endTurn as plainEnd, isProgram, openCallsOf, type Stopped, type ThreadState, threadOf } from './state.ts';

export interface TurnOutcome {
  readonly end: TurnEnd;
  readonly error: string | null;
  /** Whether whoever delegated it is told. It is not when it was interrupted itself. */
  readonly isReported: boolean;
}

/** Closes a turn: the parent hears what came of it, and the thread rests until it is spoken to again. */
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

/** The turn is lost for good, and what waited behind it with it. A child cannot be spoken to any more. */
export function failTurn(draft: Draft, thread: ThreadState, error: SessionError): void {
  draft.event(thread, 'session.error', { error, retry: 'exhausted', retry_at: null });
  // What other agents wrote to the primary thread is kept for its next turn: nobody would write it again.
  const waiting = thread.inbox.filter(({ type }) => type !== 'letter' || thread.parentId !== null);
  if (waiting.length > 0) draft.add(thread, 'turn.flushed', { message_ids: waiting.map(({ id }) => id) });
  const stop: Stopped = { reason: { type: 'retries_exhausted' }, details: null };
  closeTurn(draft, thread, { end: 'error', error: error.message, stop, isReported: true });
  if (thread.parentId !== null) showTerminated(draft, thread, { isArchived: false });
}

export function cancelTurn(draft: Draft, thread: ThreadState, { isReported }: Pick<TurnOutcome, 'isReported'>): void {
  closeTurn(draft, thread, { end: 'cancelled', error: 'it was interrupted', stop: plainEnd, isReported });
}

/** The end of a thread. A turn that is open ends where it is, with a result for every call. */
export function terminate(draft: Draft, thread: ThreadState, ending: TurnOutcome & { isArchived: boolean }): void {
  if (thread.turn !== null) {
    dropRequest(draft, thread);
    const by = ending.end === 'error' ? 'error' : 'archive';
    for (const call of openCallsOf(thread)) giveInterruption(draft, thread, call, by);
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
    // A program tells its agents itself.
    is_processed: isProgram(draft.state),
    answers_call: call?.progress.type === 'joining' ? call.id : null,
    is_error: isError,
  });
}

/** What the agent said last. If it could not finish, that comes first, so that nobody takes a part for the whole. */
function toReport(thread: ThreadState, end: TurnEnd, error: string | null): readonly InputBlock[] {
  const said = thread.turn?.said ?? '';
  const problem = end === 'end_turn' ? null : `ERR: ${thread.agentName} did not finish: ${error ?? end}`;
  const texts = [problem, said === '' ? null : said].filter((text) => text !== null);
  return [
    {
      type: 'text',
      text: texts.length > 0 ? texts.join('\n\n') : `${thread.agentName} ended without saying anything.`,
    },
  ];
}
