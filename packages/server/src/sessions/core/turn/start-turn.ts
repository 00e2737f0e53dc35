import { cutText } from '@fleetloom/protocol/fleet';
import type { InputBlock } from '../../../base/content.ts';
import { baseLimits } from '../../../base/limits.ts';
import { agentOf } from '../state/agent-of.ts';
import type { Draft } from '../draft.ts';
import { nextInboxMessages } from './next-inbox-messages.ts';
import { isProgram, isProgramThread } from '../state/program-threads.ts';
import type { Run, ThreadState, Waiting } from '../state/state.ts';

/** How a turn begins. */
export interface TurnStart {
  /** The turn of the parent that delegated it, and the index of the task. */
  readonly parentStreamId: number | null;
  readonly childIndex: number | null;
  /** Messages for the agent that are not in its inbox. */
  readonly fresh: readonly Waiting[];
  /** The task, if it is neither in `fresh` nor in the inbox. */
  readonly task?: readonly InputBlock[];
}

/** Opens a turn of an idle thread and delivers the messages that wait for it. */
export function startTurn(draft: Draft, thread: ThreadState, start: TurnStart): void {
  const isRunByProgram = isProgramThread(draft.state, thread);
  const delivered = nextInboxMessages([...thread.inbox, ...start.fresh], isRunByProgram);
  for (const waiting of start.fresh) if (!delivered.includes(waiting)) keepWaiting(draft, thread, waiting);
  const task = toExcerpt(start.task ?? delivered[0]?.content ?? []);
  const run = draft.state.run ?? startRun(draft, thread, delivered, task);
  const turn = { streamId: run.nextStreamId, depth: thread.depth, run: run.id };
  draft.addInTurn(thread, turn, 'turn.started', {
    agent_name: thread.agentName,
    ...(thread.title === null ? {} : { title: thread.title }),
    model: agentOf(draft.state, thread).model.id,
    ...(isRunByProgram === isProgram(draft.state) ? {} : { is_program: isRunByProgram }),
    parent_stream_id: start.parentStreamId,
    child_index: start.childIndex,
    task,
  });
  announceRunning(draft, thread);
  for (const waiting of delivered) deliver(draft, thread, waiting);
}

/** Logs the running status of the session, then of the thread: readers rely on this order. */
export function announceRunning(draft: Draft, thread: ThreadState): void {
  if (draft.state.status !== 'running') draft.event(null, 'session.status_running', {});
  if (thread.status === 'running') return;
  draft.event(thread, 'session.thread_status_running', {
    session_thread_id: thread.id,
    agent_name: thread.agentName,
  });
}

function startRun(draft: Draft, thread: ThreadState, delivered: readonly Waiting[], message: string): Run {
  const turn = { streamId: 0, depth: thread.depth, run: draft.nextRunId() };
  draft.addInTurn(null, turn, 'run.started', {
    input_ids: delivered.map(({ id }) => id),
    agent_name: thread.agentName,
    message,
  });
  return draft.state.run!;
}

function deliver(draft: Draft, thread: ThreadState, waiting: Waiting): void {
  const { id } = waiting;
  if (waiting.type === 'letter') {
    // A model has it in its history.
    const said = isProgramThread(draft.state, thread) ? { content: waiting.content } : {};
    return draft.add(thread, 'turn.took', { message_id: id, ...said });
  }
  if (waiting.type === 'user.message') {
    draft.add(thread, 'user.message', { id, content: waiting.content, is_processed: true });
  } else {
    draft.add(thread, 'system.message', { id, content: waiting.content, is_processed: true });
  }
}

/** Adds a message to the inbox of a thread. */
export function keepWaiting(draft: Draft, thread: ThreadState, waiting: Waiting): void {
  const { id } = waiting;
  if (waiting.type === 'user.message') {
    draft.add(thread, 'user.message', { id, content: waiting.content, is_processed: false });
  } else if (waiting.type === 'system.message') {
    draft.add(thread, 'system.message', { id, content: waiting.content, is_processed: false });
  }
}

/** The beginning of a text, for lists. */
function toExcerpt(content: readonly InputBlock[]): string {
  const text = content.find((block) => block.type === 'text')?.text ?? '';
  return text.length <= baseLimits.excerptCharsMax ? text : `${cutText(text, baseLimits.excerptCharsMax)}…`;
}
