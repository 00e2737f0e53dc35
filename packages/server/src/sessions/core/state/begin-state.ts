import { toThread } from './fold-thread.ts';
import type { NewSessionFrame } from '../../../frames/frames.ts';
import { endTurn, noUsage, type SessionState } from './state.ts';

/** The state after the first frame of a log. */
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
    isolation: null,
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
    workspace: null,
    merging: null,
    isDiscarded: false,
    run: null,
    newestRun: null,
    firstMessage: null,
    runError: null,
    usage: noUsage,
    requests: 0,
    active: { totalMs: 0, since: null },
    createdAt: time,
    updatedAt: time,
  };
}
