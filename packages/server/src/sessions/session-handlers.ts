import { startWatch, stopWatch, toThread } from './fold-thread.ts';
import { type FrameHandlers, onThread } from './frame-handler.ts';
import { threadOf, WORKSPACE_LOST } from './state.ts';

/** What becomes of the session: its threads, its statuses, its runs. */
export const sessionHandlers: FrameHandlers = {
  'session.updated': (state, { title, metadata, agent, budget }) => {
    if (title !== undefined) state.title = title;
    if (metadata !== undefined) state.metadata = metadata;
    if (agent !== undefined) state.agent = agent;
    if (budget !== undefined) state.budget = budget;
  },
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
    // What a program knew of it was on the disk that is gone, and nobody else could go on with it.
    if (error.reason === WORKSPACE_LOST) state.conversation = null;
    const turn = frame.threadId === null ? null : threadOf(state, frame.threadId).turn;
    if (turn === null || retry !== 'retrying' || at === null) return;
    // A restart of ours says nothing about the endpoint, so it uses up no attempt.
    if (error.reason !== 'restarted') turn.failures++;
    turn.phase = { type: 'waiting', at, purpose: 'purpose' in turn.phase ? turn.phase.purpose : 'turn' };
  },

  'session.thread_created': (state, payload, { threadId: parentId, time }) => {
    const { session_thread_id: id, agent_name: agentName, member, depth, joined_by: join } = payload;
    const { title = null, program_key: programKey = null, program_call: programCall = null } = payload;
    const joinedBy = join === null ? null : { toolUseId: join.tool_use_id, index: join.index };
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

  'program.opened': (state, { conversation }) => {
    state.conversation = conversation;
    state.isConversationForked = false;
  },
  'program.message': (state, { message }) => {
    state.conversationAt = message;
  },
  'program.forked': (state, { conversation, message }) => {
    state.conversation = conversation;
    state.conversationAt = message;
    state.isConversationForked = conversation !== null;
  },
  'run.started': (state, { agent_name, message }, { turn, time }) => {
    state.newestRun = { id: turn!.run, started_at: time, ended_at: null, state: 'running', agent_name, message };
    state.run = { id: turn!.run, nextStreamId: 0, outcome: null };
    // Turns are numbered anew.
    for (const thread of state.threads.values()) thread.calledBy = null;
  },
  'run.ended': (state, { ok, stop_reason: end }, { time }) => {
    const outcome = ok ? 'completed' : end === 'cancelled' ? 'cancelled' : 'failed';
    state.newestRun = { ...state.newestRun!, ended_at: time, state: outcome };
    state.run = null;
  },
};
