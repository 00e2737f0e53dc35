import type { ThreadHealth } from '@fleetloom/protocol/fleet';
import { limits } from '../base/limits.ts';
import { systemSchedule } from '../base/schedule.ts';
import type { SessionData } from '../frames/record-data.ts';
import type { NewKey, SessionRecord, ThreadRecord } from '../store/records.ts';
import { isStoreError } from '../store/store-errors.ts';
import type { ClientEvent } from './client-event.ts';
import { type CreateSession, createSession } from './create-session.ts';
import { type ForkSession, forkSession } from './fork-session.ts';
import { askOwner } from './owner/ask-owner.ts';
import { type CommandOutcome, throwRefusal } from './owner/command-outcome.ts';
import { over, type SessionCommand } from './owner/session-command.ts';
import { type Sent, sendEvents } from './send-events.ts';
import { sessionError } from './session-errors.ts';
import { type HostOptions, SessionHost } from './session-host.ts';
import { type SessionUpdate, toUpdate, type Updatable } from './to-update.ts';

/** The sessions of all workspaces. What is given to it has the right form; whether it makes sense is decided here. */
export interface Sessions {
  /** Goes on with whatever was under way when the last process ended. */
  start(): Promise<void>;
  create(request: CreateSession): Promise<SessionRecord>;
  /** A new one with everything that happened in another one up to a moment. */
  fork(request: ForkSession): Promise<SessionRecord>;
  /** All of them or none. They are durable when this resolves, and are taken up by whoever owns the session. */
  send(request: SendToSession): Promise<readonly Sent[]>;
  /** What was sent is taken up, durably, when this resolves; or the process that owns the session is not heard of. */
  take(sessionId: string): Promise<void>;
  update(request: UpdateSession): Promise<SessionRecord>;
  /** Not while it runs. A second time changes nothing. */
  archive(workspaceId: string, sessionId: string): Promise<SessionRecord>;
  /** Not while it runs. */
  delete(workspaceId: string, sessionId: string): Promise<void>;
  archiveThread(workspaceId: string, sessionId: string, threadId: string): Promise<ThreadRecord>;
  /** What the threads of a session do that this process owns. Undefined: it does not. */
  health(sessionId: string): readonly ThreadHealth[] | undefined;
  /** How many sessions this process has open, at work or not. */
  countOpen(): number;
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

export interface SessionsOptions extends HostOptions {
  /** How long another process that owns a session is waited for. */
  readonly ownerWaitMs?: number | undefined;
}

/**
 * Sessions on a store, with one log, engines and tools.
 *
 * @example
 * const sessions = createSessions({ store, log, engine, models, openToolbox, openWorkspace, clock, ids, random, owner });
 * await sessions.start();
 */
export function createSessions(options: SessionsOptions): Sessions {
  const { store, log, clock, ids, models, programs, openWorkspace } = options;
  const program = programs === undefined ? undefined : { programs, openWorkspace };
  const host = new SessionHost(options);

  return {
    start: () => host.start(),

    take: (sessionId) => host.take(sessionId),

    create: async (request) => {
      const sessionId = await createSession(log, { clock, ids, models }, request);
      if ((request.events ?? []).length > 0) await host.take(sessionId);
      return read(request.workspaceId, sessionId);
    },

    fork: async (request) => {
      await read(request.workspaceId, request.sourceId);
      const { id, status } = await forkSession({ store, log, clock, ids, models, program }, request);
      // Something had been said at that moment and was not taken up yet.
      if (status !== 'idle') host.wake(id);
      return read(request.workspaceId, id);
    },

    send: async ({ workspaceId, sessionId, ...rest }) => {
      const session = await read(workspaceId, sessionId);
      const sent = await sendEvents({ store, clock, ids, session, ...rest });
      // Signals of others wake only who owns the session.
      if (options.shared !== undefined) host.wake(sessionId);
      return sent;
    },

    update: async ({ workspaceId, sessionId, ...request }) => {
      await retryOutdated(sessionId, async () => {
        const session = await read(workspaceId, sessionId);
        if (session.status === 'terminated') throw over({ id: sessionId, isArchived: session.archivedAt !== null });
        return command(session, (state) => toUpdateCommand(state, request));
      });
      return read(workspaceId, sessionId);
    },

    archive: async (workspaceId, sessionId) => {
      const session = await read(workspaceId, sessionId);
      if (session.archivedAt !== null) return session;
      // With nothing left that was sent before.
      await host.take(sessionId);
      await command(session, () => ({ type: 'archive' }));
      return read(workspaceId, sessionId);
    },

    delete: async (workspaceId, sessionId) => {
      const session = await read(workspaceId, sessionId);
      await host.take(sessionId);
      await command(session, () => ({ type: 'delete' }));
    },

    archiveThread: async (workspaceId, sessionId, threadId) => {
      const session = await read(workspaceId, sessionId);
      await command(session, () => ({ type: 'archive_thread', thread_id: threadId }));
      return (await store.threads.get(sessionId, threadId))!;
    },

    health: (sessionId) => host.health(sessionId),

    countOpen: () => host.openCount,

    close: () => host.close(),
  };

  async function read(workspaceId: string, sessionId: string): Promise<SessionRecord> {
    const session = await store.sessions.get(workspaceId, sessionId);
    if (session === undefined) throw notFound(sessionId);
    return session;
  }

  /** Done here, or by the process that owns the session. Throws what its owner refuses. */
  async function command(
    session: SessionRecord,
    toCommand: (state: Updatable) => SessionCommand,
  ): Promise<CommandOutcome> {
    const outcome =
      (await host.command(session.id, ({ state }) => toCommand(state))) ??
      (await askElsewhere(session, toCommand(toUpdatable(session))));
    throwRefusal(outcome);
    return outcome;
  }

  async function askElsewhere(session: SessionRecord, asked: SessionCommand): Promise<CommandOutcome> {
    const { schedule = systemSchedule } = options;
    try {
      return await askOwner({ store, clock, ids, schedule, waitMs: options.ownerWaitMs }, session, asked);
    } catch (error) {
      // Nothing can be left for it any more; whoever has it is about to let go of it.
      if (isStoreError(error, 'archived')) throw elsewhere(session.id);
      if (isStoreError(error, 'not_found')) throw notFound(session.id);
      throw error;
    }
  }

  /** Somebody else has changed the same at the same time: both are to be heard. */
  async function retryOutdated(sessionId: string, attempt: () => Promise<CommandOutcome>): Promise<void> {
    for (let count = 0; count < limits.updateAttemptsMax; count++) {
      if ((await attempt()).type !== 'outdated') return;
    }
    throw elsewhere(sessionId);
  }
}

function toUpdateCommand(state: Updatable, request: SessionUpdate): SessionCommand {
  const changes = toUpdate(state, request);
  return {
    type: 'update',
    changes,
    made_on: {
      ...(changes.metadata === undefined ? {} : { metadata: state.metadata }),
      ...(changes.agent === undefined ? {} : { agent: state.agent }),
    },
  };
}

/** The record is written together with the frames, so it says what its owner knows. */
function toUpdatable({ id, status, data }: SessionRecord): Updatable {
  // Only sessions write it.
  const { title, metadata, agent, budget, usage } = data as unknown as SessionData;
  return { id, status, title, metadata, agent, budget, usage };
}

function notFound(sessionId: string): Error {
  return sessionError('session_not_found', `there is no session ${sessionId}`);
}

function elsewhere(sessionId: string): Error {
  return sessionError('session_elsewhere', `${sessionId} is owned by another process`);
}
