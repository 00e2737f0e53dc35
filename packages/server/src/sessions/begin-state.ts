import { toThread } from './fold-thread.ts';
import type { NewSessionFrame } from '../frames/frames.ts';
import { endTurn, noUsage, type SessionState } from './state.ts';

/** The state behind the first frame of every log. */
export function beginState(sessionId: string, frame: NewSessionFrame): SessionState {
  if (frame.type !== 'session.created') throw new Error(`the log of ${sessionId} begins with ${frame.type}`);
  const { payload: created, time } = frame;
  const primary = toThread({
    id: created.primary_thread_id,
    parentId: null,
    depth: 0,
    agentName: created.agent.name,
    title: null,
    member: null,
    programKey: null,
    programCall: null,
    joinedBy: null,
    time,
    hasTextCommands: created.text_commands ?? false,
  });
  return {
    id: sessionId,
    created,
    agent: created.agent,
    title: created.title,
    metadata: created.metadata,
    budget: created.budget,
    status: 'idle',
    stop: endTurn,
    isArchived: false,
    threads: new Map([[primary.id, primary]]),
    conversation: null,
    conversationAt: null,
    isConversationForked: false,
    run: null,
    newestRun: null,
    usage: noUsage,
    requests: 0,
    active: { totalMs: 0, since: null },
    createdAt: time,
    updatedAt: time,
  };
}
