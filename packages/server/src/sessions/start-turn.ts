import { cutText } from '@fleetloom/protocol/fleet';
import type { InputBlock } from '../base/content.ts';
import { limits } from '../base/limits.ts';
import { agentOf } from './agent-of.ts';
import type { Draft } from './draft.ts';
import type { Run, ThreadState, Waiting } from './state.ts';

export interface TurnStart {
  /** Who delegated it, and as which of several. */
  readonly parentStreamId: number | null;
  readonly childIndex: number | null;
  /** What is told to the agent and does not stand in its inbox. */
  readonly fresh: readonly Waiting[];
  /** What it is about, if that is neither fresh nor in the inbox. */
  readonly task?: readonly InputBlock[];
}

/** Opens a turn of a thread that rests, and tells the agent everything that waits for it. */
export function startTurn(draft: Draft, thread: ThreadState, start: TurnStart): void {
  const told = [...thread.inbox, ...start.fresh];
  const task = toExcerpt(start.task ?? told[0]?.content ?? []);
  const run = draft.state.run ?? startRun(draft, thread, told, task);
  const turn = { streamId: run.nextStreamId, depth: thread.depth, run: run.id };
  draft.addInTurn(thread, turn, 'turn.started', {
    agent_name: thread.agentName,
    ...(thread.title === null ? {} : { title: thread.title }),
    model: agentOf(draft.state, thread).model.id,
    parent_stream_id: start.parentStreamId,
    child_index: start.childIndex,
    task,
  });
  announceRunning(draft, thread);
  for (const waiting of told) tell(draft, thread, waiting);
}

/** The session runs before its thread does: readers count on this order. */
export function announceRunning(draft: Draft, thread: ThreadState): void {
  if (draft.state.status !== 'running') draft.event(null, 'session.status_running', {});
  if (thread.status === 'running') return;
  draft.event(thread, 'session.thread_status_running', {
    session_thread_id: thread.id,
    agent_name: thread.agentName,
  });
}

function startRun(draft: Draft, thread: ThreadState, told: readonly Waiting[], message: string): Run {
  const turn = { streamId: 0, depth: thread.depth, run: draft.nextRunId() };
  draft.addInTurn(null, turn, 'run.started', {
    input_ids: told.map(({ id }) => id),
    agent_name: thread.agentName,
    message,
  });
  return draft.state.run!;
}

function tell(draft: Draft, thread: ThreadState, waiting: Waiting): void {
  if (waiting.type === 'letter') return draft.add(thread, 'turn.took', { message_id: waiting.id });
  const { id } = waiting;
  if (waiting.type === 'user.message') {
    draft.add(thread, 'user.message', { id, content: waiting.content, is_processed: true });
  } else {
    draft.add(thread, 'system.message', { id, content: waiting.content, is_processed: true });
  }
}

/** The beginning of a text, for people who look at many. */
function toExcerpt(content: readonly InputBlock[]): string {
  const text = content.find((block) => block.type === 'text')?.text ?? '';
  return text.length <= limits.excerptCharsMax ? text : `${cutText(text, limits.excerptCharsMax)}…`;
}
