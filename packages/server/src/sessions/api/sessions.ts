import type { ThreadHealth } from '@fleetloom/protocol/fleet';
import { inBackground } from '../../base/in-background.ts';
import { baseLimits } from '../../base/limits.ts';
import { systemSchedule } from '../../base/schedule.ts';
import type { EgressEntry } from '../../frames/egress-entry.ts';
import type { FramePayloads } from '../../frames/frames.ts';
import type { SessionData } from '../../frames/record-data.ts';
import type { Rule } from '../../rules/rule.ts';
import { APPROVAL_RULES, forgetSessionRules, readRules } from '../../rules/rules.ts';
import { storeLimits } from '../../store/limits.ts';
import { readPages } from '../../store/read-pages.ts';
import type { NewKey, SessionRecord, ThreadRecord } from '../../store/records.ts';
import { isStoreError } from '../../store/store-errors.ts';
import type { ClientEvent } from '../core/client-event.ts';
import { type CreateSession, createSession } from './create-session.ts';
import { createRuleDecisions, findMatches } from './decide-by-rules.ts';
import { type ForkParts, type ForkSession, forkSession } from './fork/fork-session.ts';
import { forwardCommand } from '../runtime/owner/forward-command.ts';
import { type CommandOutcome, throwRefusal } from '../runtime/owner/command-outcome.ts';
import { over, type SessionCommand } from '../runtime/owner/session-command.ts';
import type { ControlOutcome, SessionControl } from '../runtime/program/control-session.ts';
import { type SendRequest, type Sent, sendEvents } from './send-events.ts';
import { sessionError } from '../core/session-errors.ts';
import type { HostOptions } from '../runtime/host/host-options.ts';
import { type SessionFigures, SessionHost } from '../runtime/session-host.ts';
import { type SessionUpdate, toUpdate, type Updatable } from '../core/steps/to-update.ts';

/** The sessions of all workspaces. Callers check the form of requests; these methods check whether they are possible. */
export interface Sessions {
  /** Adopts sessions that were running when the last process ended. */
  start(): Promise<void>;
  create(request: CreateSession): Promise<SessionRecord>;
  /** Creates a session with the log of another one up to a frame. */
  fork(request: ForkSession): Promise<SessionRecord>;
  /** Sends all events or none. They are durable when this resolves; the owner of the session applies them. */
  send(request: SendToSession): Promise<readonly Sent[]>;
  /** Resolves when all sent events are applied and durable, or the owner of the session did not respond in time. */
  applyInputs(sessionId: string): Promise<void>;
  update(request: UpdateSession): Promise<SessionRecord>;
  /** Archives an idle session. Archiving it again changes nothing. */
  archive(workspaceId: string, sessionId: string): Promise<SessionRecord>;
  /** Deletes an idle session. */
  delete(workspaceId: string, sessionId: string): Promise<void>;
  /** Begins to prepare the workspace of a session before its first run, such as by cloning its repositories. */
  prepare(sessionId: string): void;
  /** Watches a session that a client follows and decides for. Its approvals are withdrawn when the client stops. */
  watchFollowed(sessionId: string): Promise<void>;
  /** Logs that changes of the workspace were applied. */
  logApplied(workspaceId: string, sessionId: string, applied: AppliedPayload): Promise<void>;
  /** Removes the workspace of an idle session. The next message begins with a new one. */
  discardWorkspace(workspaceId: string, sessionId: string, by: string): Promise<void>;
  /** Replaces the files of an idle session that differ between two trees. Changes that were not recorded yet are recorded first. */
  restoreWorkspace(workspaceId: string, sessionId: string, restored: RestoredTree): Promise<void>;
  /** Merges the changes of a thread in its own worktree into the workspace that the worktree was made from. */
  mergeChanges(workspaceId: string, sessionId: string, merged: MergedThread): Promise<void>;
  archiveThread(workspaceId: string, sessionId: string, threadId: string): Promise<ThreadRecord>;
  /** Logs connections of programs of a session. Throws if this process does not own it. */
  logConnections(sessionId: string, entries: readonly EgressEntry[]): Promise<void>;
  /** The activity of the threads of a session; undefined if this process does not own it. */
  health(sessionId: string): readonly ThreadHealth[] | undefined;
  /** Sends a request to the program of a session that this process owns, or can acquire for a rewind. Undefined: another process owns it. */
  control(sessionId: string, control: SessionControl): Promise<ControlOutcome | undefined>;
  /** Answers the pending approvals of the workspace that the rule allows. Resolves with their number. */
  applyRule(workspaceId: string, rule: Rule): Promise<number>;
  /** How many pending approvals the rule would answer, as far as their inputs show. */
  countMatches(workspaceId: string, rule: Rule): Promise<number>;
  /** Figures for metrics. */
  figures(): SessionFigures;
  /** How many sessions this process has open, running or idle. */
  countOpen(): number;
  /** Stops all work at once. */
  close(): Promise<void>;
}

/** Applied changes, as the log records them. */
export type AppliedPayload = Omit<FramePayloads['workspace.applied'], 'id'>;

/** The files that are replaced, and the name of the key of the caller. */
export interface RestoredTree {
  /** The tree with these files as they are on disk. */
  readonly from: string;
  readonly tree: string;
  readonly by: string;
}

/** A thread whose changes are merged. */
export interface MergedThread {
  readonly threadId: string;
  /** The name of the key of the caller. */
  readonly by: string;
}

/** Events for a session. */
export interface SendToSession extends Pick<SendRequest, 'audit'> {
  readonly workspaceId: string;
  readonly sessionId: string;
  readonly events: readonly ClientEvent[];
  readonly claimedThreads?: ReadonlyMap<number, string>;
  readonly toKey?: (sent: readonly Sent[]) => NewKey;
}

/** A change of a session. */
export interface UpdateSession extends SessionUpdate {
  readonly workspaceId: string;
  readonly sessionId: string;
}

/** What sessions need. */
export interface SessionsOptions extends HostOptions {
  /** How long a forwarded command waits for the owner of the session. */
  readonly ownerWaitMs?: number | undefined;
  /** Copies the recorded files of a session that is forked. */
  readonly copyFiles?: ForkParts['copyFiles'];
}

/**
 * Sessions on a store, with one log, engines and tools.
 *
 * @example
 * const sessions = createSessions({ store, log, engine, models, openToolbox, openWorkspace, clock, ids, random, owner });
 * await sessions.start();
 */
export function createSessions(options: SessionsOptions): Sessions {
  const { store, log, clock, ids, models, programOf, openWorkspace, copyFiles } = options;
  const program = programOf === undefined ? undefined : { programOf, openWorkspace };
  const host = new SessionHost({ ...options, decideByRules: createRuleDecisions({ store, clock, ids }) });

  return {
    start: async () => {
      await host.start();
      inBackground(applyStoredRules(), (error) => options.onProblem?.('', error));
    },

    applyInputs: (sessionId) => host.applyInputs(sessionId),

    create: async (request) => {
      const sessionId = await createSession(log, { clock, ids, models }, request);
      if ((request.events ?? []).length > 0) await host.applyInputs(sessionId);
      return read(request.workspaceId, sessionId);
    },

    fork: async (request) => {
      await read(request.workspaceId, request.sourceId);
      const { id, status } = await forkSession({ store, log, clock, ids, models, program, copyFiles }, request);
      // Messages that were pending at that frame have begun a turn.
      if (status !== 'idle') host.wake(id);
      return read(request.workspaceId, id);
    },

    send: async ({ workspaceId, sessionId, ...rest }) => {
      const session = await read(workspaceId, sessionId);
      const sent = await sendEvents({ store, clock, ids, session, ...rest });
      // A signal wakes only the owner of the session.
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
      // Events that were sent before are applied first.
      await host.applyInputs(sessionId);
      await command(session, () => ({ type: 'archive' }));
      return read(workspaceId, sessionId);
    },

    delete: async (workspaceId, sessionId) => {
      const session = await read(workspaceId, sessionId);
      await host.applyInputs(sessionId);
      await command(session, () => ({ type: 'delete' }));
      await forgetSessionRules(store, workspaceId, sessionId);
    },

    prepare: (sessionId) => host.prepare(sessionId),
    watchFollowed: (sessionId) => host.watchFollowed(sessionId),

    logApplied: async (workspaceId, sessionId, applied) => {
      await command(await read(workspaceId, sessionId), () => ({ type: 'workspace_applied', applied }));
    },

    discardWorkspace: async (workspaceId, sessionId, by) => {
      const session = await read(workspaceId, sessionId);
      // A message that was sent before begins its turn, and the session is not idle.
      await host.applyInputs(sessionId);
      await commandInOrder(session, { type: 'discard_workspace', by });
    },

    restoreWorkspace: async (workspaceId, sessionId, { from, tree, by }) => {
      const session = await read(workspaceId, sessionId);
      await host.applyInputs(sessionId);
      await commandInOrder(session, { type: 'restore_workspace', from, tree, by });
    },

    mergeChanges: async (workspaceId, sessionId, { threadId, by }) => {
      const session = await read(workspaceId, sessionId);
      await host.applyInputs(sessionId);
      await commandInOrder(session, { type: 'merge_changes', thread_id: threadId, by });
    },

    archiveThread: async (workspaceId, sessionId, threadId) => {
      const session = await read(workspaceId, sessionId);
      await command(session, () => ({ type: 'archive_thread', thread_id: threadId }));
      return (await store.threads.get(sessionId, threadId))!;
    },

    logConnections: (sessionId, entries) => host.logConnections(sessionId, entries),

    health: (sessionId) => host.health(sessionId),

    control: (sessionId, control) => host.control(sessionId, control),

    applyRule: (workspaceId, rule) => applyRules(workspaceId, [rule]),

    countMatches: async (workspaceId, rule) => {
      const found = await findMatches(store, workspaceId, [rule], clock.now());
      return [...found.values()].reduce((sum, count) => sum + count, 0);
    },

    figures: () => host.figures,

    countOpen: () => host.openCount,

    close: () => host.close(),
  };

  async function read(workspaceId: string, sessionId: string): Promise<SessionRecord> {
    const session = await store.sessions.get(workspaceId, sessionId);
    if (session === undefined) throw notFound(sessionId);
    return session;
  }

  async function applyRules(workspaceId: string, rules: readonly Rule[]): Promise<number> {
    let count = 0;
    for (const sessionId of (await findMatches(store, workspaceId, rules, clock.now())).keys()) {
      const session = await store.sessions.get(workspaceId, sessionId);
      if (session === undefined || session.status === 'terminated') continue;
      const outcome = await command(session, () => ({ type: 'decide_by_rules' }));
      count += outcome.type === 'done' ? (outcome.count ?? 0) : 0;
      await host.applyInputs(sessionId);
    }
    return count;
  }

  /** A process may have ended between an approval and its decision, and a session that waits is not opened at a start. */
  async function applyStoredRules(): Promise<void> {
    const request = { kind: APPROVAL_RULES, limit: storeLimits.recordPageItemsMax };
    for await (const documents of readPages((from) => store.documents.list({ ...request, ...from }))) {
      for (const { id: workspaceId } of documents) {
        const { rules } = await readRules(store, workspaceId);
        if (rules.length > 0) await applyRules(workspaceId, rules);
      }
    }
  }

  /** Runs a command here, or forwards it to the owner of the session. Throws if the owner rejects it. */
  async function command(
    session: SessionRecord,
    toCommand: (state: Updatable) => SessionCommand,
  ): Promise<CommandOutcome> {
    const outcome =
      (await host.command(session.id, ({ state }) => toCommand(state))) ??
      (await forward(session, toCommand(toUpdatable(session))));
    throwRefusal(outcome);
    return outcome;
  }

  async function commandInOrder(session: SessionRecord, asked: SessionCommand): Promise<void> {
    throwRefusal((await host.exclusiveCommand(session.id, asked)) ?? (await forward(session, asked)));
  }

  async function forward(session: SessionRecord, asked: SessionCommand): Promise<CommandOutcome> {
    const { schedule = systemSchedule } = options;
    try {
      return await forwardCommand({ store, clock, ids, schedule, waitMs: options.ownerWaitMs }, session, asked);
    } catch (error) {
      // The archived session accepts no commands, and its owner is about to release it.
      if (isStoreError(error, 'archived')) throw elsewhere(session.id);
      if (isStoreError(error, 'not_found')) throw notFound(session.id);
      throw error;
    }
  }

  /** Another caller changed the same fields at the same time: the update is made again on the new state. */
  async function retryOutdated(sessionId: string, attempt: () => Promise<CommandOutcome>): Promise<void> {
    for (let count = 0; count < baseLimits.updateAttemptsMax; count++) {
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

/** The record is committed with the frames, so it has the owner's state. */
function toUpdatable({ id, status, data }: SessionRecord): Updatable {
  // Only sessions write this data.
  const { title, metadata, agent, budget, usage } = data as unknown as SessionData;
  return { id, status, title, metadata, agent, budget, usage };
}

function notFound(sessionId: string): Error {
  return sessionError('session_not_found', `there is no session ${sessionId}`);
}

function elsewhere(sessionId: string): Error {
  return sessionError('session_elsewhere', `${sessionId} is owned by another process`);
}
