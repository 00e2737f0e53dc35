import { startWatch, stopWatch, toThread } from './fold-thread.ts';
import { type FrameHandlers, onProgram, onThread } from './frame-handler.ts';
import {
  type Isolation,
  type ProgramState,
  type SessionState,
  type ThreadState,
  threadOf,
  WORKSPACE_LOST,
} from './state.ts';

/** Folds the frames of the session: its threads, statuses and runs. */
export const sessionHandlers: FrameHandlers = {
  'session.updated': (state, { title, metadata, agent, budget }) => {
    if (title !== undefined) state.title = title;
    if (metadata !== undefined) state.metadata = metadata;
    if (agent !== undefined) state.agent = agent;
    if (budget !== undefined) state.budget = budget;
  },
  'workspace.opened': (state, { tree }) => {
    state.workspace = { opened: tree, tree, counts: noChanges };
    state.isDiscarded = false;
  },
  'workspace.changed': (state, { tree, workspace_thread_id: owner, unmerged = null, since_opened }) => {
    if (owner !== undefined) return setIsolation(threadOf(state, owner), { tree, unmerged });
    const counts = since_opened ?? state.workspace?.counts ?? noChanges;
    state.workspace = { opened: state.workspace?.opened ?? tree, tree, counts };
  },
  'workspace.isolated': (state, { session_thread_id: id, tree, branch }) => {
    setIsolation(threadOf(state, id), { tree, branch, merged: tree, unmerged: null });
  },
  'workspace.merge_started': (state, { session_thread_id: threadId, from, tree, merged, tool_use_id, by = null }) => {
    state.merging = { threadId, from, tree, merged, toolUseId: tool_use_id, by };
  },
  'workspace.merge_ended': (state, { session_thread_id: id, merged, is_merged: isMerged }) => {
    state.merging = null;
    if (isMerged) setIsolation(threadOf(state, id), { merged, unmerged: null });
  },
  'workspace.discarded': (state) => {
    forgetWorkspace(state);
    state.isDiscarded = true;
  },
  'workspace.lost': (state) => forgetWorkspace(state),
  'session.status_running': (state, _, { time }) => {
    state.status = 'running';
    startWatch(state.active, time);
  },
  'session.status_idle': (state, { stop_reason: reason, stop_details: details }, { time }) => {
    state.status = 'idle';
    state.stop = { reason, details };
    stopWatch(state.active, time);
  },
  'session.status_rescheduled': (state, _, { time }) => {
    state.status = 'rescheduling';
    stopWatch(state.active, time);
  },
  'session.status_terminated': (state, { is_archived }, { time }) => {
    state.status = 'terminated';
    state.isArchived = is_archived;
    stopWatch(state.active, time);
  },
  'session.error': (state, { error, retry, retry_at: at }, frame) => {
    // The conversations of programs were on the lost disk.
    if (error.reason === WORKSPACE_LOST) {
      for (const thread of state.threads.values())
        if (thread.program.conversation !== null) setProgram(thread, { conversation: null });
    }
    const turn = frame.threadId === null ? null : threadOf(state, frame.threadId).turn;
    if (turn === null || retry !== 'retrying' || at === null) return;
    // A restart of the server is not a failure of the endpoint, so it does not count as an attempt.
    if (error.reason !== 'restarted') turn.failures++;
    turn.phase = { type: 'waiting', at, purpose: 'purpose' in turn.phase ? turn.phase.purpose : 'turn' };
  },

  'session.thread_created': (state, payload, { threadId: parentId, time }) => {
    const { session_thread_id: id, agent_name: agentName, member, depth, joined_by: join } = payload;
    const { title = null, program_key: programKey = null, program_call: programCall = null } = payload;
    const joinedBy = join === null ? null : { toolUseId: join.tool_use_id, index: join.index };
    const isolation = payload.isolation === undefined ? null : notMade;
    const hasTextCommands = state.created.text_commands ?? false;
    state.threads.set(
      id,
      toThread({
        id,
        parentId,
        depth,
        agentName,
        title,
        member,
        programKey,
        programCall,
        isolation,
        joinedBy,
        time,
        hasTextCommands,
      }),
    );
    if (join !== null) threadOf(state, parentId!).calls.get(join.tool_use_id)?.children.set(join.index, id);
  },
  'session.thread_status_running': onThread((thread, _, { time }) => {
    thread.status = 'running';
    thread.startedAt ??= time;
    startWatch(thread.active, time);
  }),
  'session.thread_status_idle': onThread((thread, { stop_reason: reason, stop_details: details }, { time }) => {
    thread.status = 'idle';
    thread.stop = { reason, details };
    stopWatch(thread.active, time);
  }),
  'session.thread_status_rescheduled': onThread((thread, _, { time }) => {
    thread.status = 'rescheduling';
    stopWatch(thread.active, time);
  }),
  'session.thread_status_terminated': onThread((thread, { is_archived }, { time }) => {
    thread.status = 'terminated';
    thread.isArchived = is_archived;
    stopWatch(thread.active, time);
  }),

  'program.opened': onProgram((root, { conversation }) => setProgram(root, { conversation, isForked: false })),
  'program.message': onProgram((root, { message }) => setProgram(root, { conversationAt: message })),
  'program.forked': onProgram((root, { conversation, message }) =>
    setProgram(root, { conversation, conversationAt: message, isForked: conversation !== null }),
  ),
  'program.work_started': onProgram((root, { work_id: id, kind, description, until }, { time: since }) =>
    setProgram(root, { work: { ...root.program.work, [id]: { kind, description, since, until } } }),
  ),
  'program.work_ended': onProgram((root, { work_id: id }) => {
    const { [id]: _, ...work } = root.program.work;
    setProgram(root, { work });
  }),
  'run.started': (state, { agent_name, message }, { turn, time }) => {
    state.newestRun = { id: turn!.run, started_at: time, ended_at: null, state: 'running', agent_name, message };
    state.run = { id: turn!.run, nextStreamId: 0, outcome: null };
    state.runError = null;
    // Turns are numbered from 0 again.
    for (const thread of state.threads.values()) thread.calledBy = null;
  },
  'run.ended': (state, { ok, stop_reason: end, error }, { time }) => {
    const outcome = ok ? 'completed' : end === 'cancelled' ? 'cancelled' : 'failed';
    state.newestRun = { ...state.newestRun!, ended_at: time, state: outcome };
    state.runError = outcome === 'failed' ? (error ?? end) : null;
    state.run = null;
  },
};

const noChanges = { files_count: 0, lines_added: 0, lines_removed: 0 } as const;
const notMade: Isolation = { tree: null, branch: null, merged: null, unmerged: null };

function setProgram(root: ThreadState, changed: Partial<ProgramState>): void {
  root.program = { ...root.program, ...changed };
}

function setIsolation(thread: ThreadState, changed: Partial<Isolation>): void {
  if (thread.isolation !== null) thread.isolation = { ...thread.isolation, ...changed };
}

/** The next run begins with a new workspace, and threads that work apart with new worktrees. */
function forgetWorkspace(state: SessionState): void {
  state.workspace = null;
  state.merging = null;
  for (const thread of state.threads.values()) setIsolation(thread, notMade);
}
