import type { NewKey, SessionRecord, ThreadRecord } from '../store/records.ts';
import type { SessionActor } from './actor.ts';
import type { ClientEvent } from './client-event.ts';
import { type CreateSession, createSession } from './create-session.ts';
import type { Command } from './decide.ts';
import { type Sent, sendEvents } from './send-events.ts';
import { sessionError } from './session-errors.ts';
import { type HostOptions, SessionHost } from './session-host.ts';
import type { SessionState } from './state.ts';
import { type SessionUpdate, toUpdate } from './to-update.ts';

/** The sessions of all workspaces. What is given to it has the right form; whether it makes sense is decided here. */
export interface Sessions {
  /** Goes on with whatever was under way when the last process ended. */
  start(): Promise<void>;
  create(request: CreateSession): Promise<SessionRecord>;
  /** All of them or none. They are durable when this resolves, and are taken up by whoever owns the session. */
  send(request: SendToSession): Promise<readonly Sent[]>;
  /** Takes up what was sent, unless another process owns the session. Resolves when that is durable. */
  take(sessionId: string): Promise<void>;
  update(request: UpdateSession): Promise<SessionRecord>;
  /** Not while it runs. A second time changes nothing. */
  archive(workspaceId: string, sessionId: string): Promise<SessionRecord>;
  /** Not while it runs. */
  delete(workspaceId: string, sessionId: string): Promise<void>;
  archiveThread(workspaceId: string, sessionId: string, threadId: string): Promise<ThreadRecord>;
  /** Stops all work where it is. */
  close(): Promise<void>;
}

export interface SendToSession {
  readonly workspaceId: string;
  readonly sessionId: string;
  readonly events: readonly ClientEvent[];
  readonly claimedThreads?: ReadonlyMap<number, string>;
  readonly toKey?: (sent: readonly Sent[]) => NewKey;
}

export interface UpdateSession extends SessionUpdate {
  readonly workspaceId: string;
  readonly sessionId: string;
}

/**
 * Sessions on a store, with one log, engines and tools.
 *
 * @example
 * const sessions = createSessions({ store, log, engine, models, openToolbox, openWorkspace, clock, ids, random, owner });
 * await sessions.start();
 */
export function createSessions(options: HostOptions): Sessions {
  const { store, log, clock, ids, models } = options;
  const host = new SessionHost(options);

  return {
    start: () => host.start(),

    take: (sessionId) => host.take(sessionId),

    create: async (request) => {
      const sessionId = await createSession(log, { clock, ids, models }, request);
      if ((request.events ?? []).length > 0) await host.take(sessionId);
      return read(request.workspaceId, sessionId);
    },

    send: async ({ workspaceId, sessionId, ...rest }) => {
      const session = await read(workspaceId, sessionId);
      return sendEvents({ store, clock, ids, session, ...rest });
    },

    update: async ({ workspaceId, sessionId, ...request }) => {
      const session = await read(workspaceId, sessionId);
      if (session.status === 'terminated') throw over(session);
      const actor = await host.own(sessionId);
      const changes = toUpdate(actor.state, request);
      if (Object.keys(changes).length > 0) await perform(actor, { type: 'update', changes });
      return read(workspaceId, sessionId);
    },

    archive: async (workspaceId, sessionId) => {
      const session = await read(workspaceId, sessionId);
      if (session.archivedAt !== null) return session;
      const actor = await own(sessionId);
      checkResting(actor.state);
      await perform(actor, { type: 'archive' });
      await host.release(sessionId);
      return read(workspaceId, sessionId);
    },

    delete: async (workspaceId, sessionId) => {
      await read(workspaceId, sessionId);
      const { state, fence } = await own(sessionId);
      checkResting(state);
      await log.append({ type: 'delete', sessionId, fence });
      await host.release(sessionId);
    },

    archiveThread: async (workspaceId, sessionId, threadId) => {
      const session = await read(workspaceId, sessionId);
      const actor = await host.own(sessionId);
      const thread = actor.state.threads.get(threadId);
      if (thread === undefined) throw sessionError('thread_not_found', `${sessionId} has no thread ${threadId}`);
      if (thread.parentId === null) throw sessionError('thread_is_primary', `${threadId} is the primary thread`);
      if (thread.status === 'running' || thread.status === 'rescheduling') {
        throw sessionError('thread_running', `${threadId} is running`);
      }
      if (!thread.isArchived && actor.state.status === 'terminated') throw over(session);
      if (!thread.isArchived) await perform(actor, { type: 'archive_thread', threadId });
      return (await store.threads.get(sessionId, threadId))!;
    },

    close: () => host.close(),
  };

  async function read(workspaceId: string, sessionId: string): Promise<SessionRecord> {
    const session = await store.sessions.get(workspaceId, sessionId);
    if (session === undefined) throw sessionError('session_not_found', `there is no session ${sessionId}`);
    return session;
  }

  /** For what ends a session: with nothing left that was sent before. */
  async function own(sessionId: string): Promise<SessionActor> {
    await host.take(sessionId);
    return await host.own(sessionId);
  }

  async function perform(actor: SessionActor, command: Command): Promise<void> {
    await actor.dispatch(command);
    if (actor.isLost) throw sessionError('session_elsewhere', `${actor.state.id} was taken over by another process`);
  }
}

function checkResting({ id, status }: SessionState): void {
  if (status === 'running' || status === 'rescheduling') throw sessionError('session_running', `${id} is ${status}`);
}

function over({ id, archivedAt }: SessionRecord): Error {
  return archivedAt === null
    ? sessionError('session_terminated', `${id} has ended for good`)
    : sessionError('session_archived', `${id} is archived`);
}
