import { inBackground } from '../../base/in-background.ts';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { sessionLimits } from '../core/limits.ts';
import type { Engine } from '../../engines/model/engine.ts';
import { createNoProgramEngine } from '../../engines/program/no-program.ts';
import type { ProgramEngine } from '../../engines/program/program.ts';
import type { SessionLog } from '../../log/log.ts';
import type { Schedule } from '../../base/schedule.ts';
import type { Held, Store } from '../../store/store.ts';
import type { Toolbox } from '../../tools/toolbox.ts';
import type { ThreadWorkspaces } from '../../workspaces/isolation/thread-workspaces.ts';
import type { WorkspaceRecorder } from '../../workspaces/snapshots/recorder.ts';
import { SessionActor } from './actor.ts';
import { createOfferedTools } from './offered-tools.ts';
import type { WorkspaceLocations, WorkspaceUse } from '../../nodes/workspace-locations.ts';
import { LeaseState } from './owner/lease-state.ts';
import type { SessionCreated } from '../../frames/payload-parts.ts';
import type { PrepareWorkspace } from './prepare-workspace.ts';
import type { DecideByRules } from './rule-decisions.ts';
import { readLogged } from './program/read-logged.ts';
import { readState } from './read-state.ts';
import { toRetryDelay } from './retry-delay.ts';
import type { ModelFacts, RequestRunner } from './run-request.ts';
import { sessionError } from '../core/session-errors.ts';
import type { SessionState } from '../core/state/state.ts';

/** What sessions need: the store, the log, engines, tools and sources of time and ids. */
export interface SessionParts {
  readonly store: Store;
  readonly log: SessionLog;
  readonly engine: Engine;
  /** Returns the program engine that runs threads with this model. */
  readonly programOf?: ((model: string) => ProgramEngine) | undefined;
  readonly models: ModelFacts;
  /** Completes a model request before an engine gets it, such as with the content of files, or returns the reason why it cannot be made. */
  readonly prepareRequest?: RequestRunner['prepareRequest'] | undefined;
  /** Called when a model request has ended: `ok`, or why it failed. */
  readonly onRequestEnd?: RequestRunner['onEnd'] | undefined;
  readonly openToolbox: (sessionId: string, environment: SessionState['created']['environment']) => Toolbox;
  /** Creates the workspace of the session unless it exists, and returns its path. */
  readonly openWorkspace: (sessionId: string) => Promise<string>;
  /** Removes the workspace of a session that was discarded. */
  readonly removeWorkspace?: ((sessionId: string) => Promise<void>) | undefined;
  /** Prepares the workspace of a session that has a source, such as by cloning repositories. Returns the parts that could not be prepared. */
  readonly prepareWorkspace?: PrepareWorkspace | undefined;
  /** The recorder of a session whose workspace has a source, from its last recorded tree on. */
  readonly openRecorder?:
    | ((sessionId: string, tree: string | null, opened: string | null) => WorkspaceRecorder)
    | undefined;
  /** The worktrees of threads that do not work in the workspace of their session. */
  readonly threadWorkspaces?: ThreadWorkspaces | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: () => number;
  /** The name of this process in leases. */
  readonly owner: string;
  readonly schedule: Schedule;
  /** Answers approvals that a rule allows. */
  readonly decideByRules?: DecideByRules | undefined;
  /** Called when a long log was read without a checkpoint near its end. */
  readonly onLongLog?: ((sessionId: string, head: number) => void) | undefined;
  /** Set where several processes share the store: then a lease may be lost at any time. */
  readonly shared?: SharedParts | undefined;
}

/** Settings of nodes that share a store. */
export interface SharedParts {
  /** Which node has the workspace of a session; undefined if all nodes share one disk. */
  readonly locations?: WorkspaceLocations | undefined;
  /** How many nodes share the sessions without an owner, this one included. */
  readonly countNodes?: (() => number) | undefined;
  readonly busySessionsMax?: number | undefined;
  /** Whether workspaces are on a disk that all nodes share. */
  readonly sharesWorkspaces?: boolean | undefined;
  readonly leaseMs?: number | undefined;
  readonly tickMs?: number | undefined;
  readonly handOverToolsMs?: number | undefined;
}

/** A session that was acquired and recovered. */
export interface OpenedSession {
  readonly actor: SessionActor;
  readonly lease: LeaseState;
  readonly toolbox: Toolbox;
}

/** How long a lease lasts without renewal. */
export function leaseMsOf({ shared }: Pick<SessionParts, 'shared'>): number {
  return shared === undefined ? sessionLimits.leaseMs : (shared.leaseMs ?? sessionLimits.sharedLeaseMs);
}

/**
 * Acquires a session, reads its log and recovers it. Undefined while another process owns the session or has its
 * workspace.
 */
export async function openSession(
  parts: SessionParts,
  sessionId: string,
  events: OpenedEvents,
): Promise<OpenedSession | undefined> {
  const { store, owner, clock, shared } = parts;
  const home = await shared?.locations?.find(sessionId);
  if (home === 'elsewhere') {
    events.onElsewhere();
    return undefined;
  }
  const ttlMs = leaseMsOf(parts);
  const askedAt = clock.steady();
  const acquired = await store.leases.acquire({ sessionId, owner, ttlMs });
  if (!acquired.ok) return undefined;
  const lease = new LeaseState(clock, shared === undefined ? Number.POSITIVE_INFINITY : askedAt + ttlMs);
  const onLong = parts.onLongLog;
  const held = { sessionId, fence: acquired.fence };
  const state = await keepLease(parts, held, lease, () => readState(store, sessionId, { onLong }));
  if (state === undefined) throw sessionError('session_not_found', `there is no session ${sessionId}`);
  events.onRead(state);
  const toolbox = parts.openToolbox(sessionId, state.created.environment);
  // Where workspaces are shared, only the conversation of a program is lost with a node.
  const hasLostFiles = home === 'lost' && shared?.sharesWorkspaces !== true;
  const actor = createActor(parts, { state, fence: acquired.fence, lease, toolbox, hasLostFiles, ...events });
  const { unwritable, lostBecause: cause } = events;
  // Continuing would produce the same frame, and cost the same model request again.
  if (unwritable !== undefined) await actor.dispatch({ type: 'unwritable', message: unwritable });
  else {
    // The transcripts are on the disk with its workspace.
    if (home !== 'lost') {
      await keepLease(parts, held, lease, () => actor.recoverPrograms(() => readLogged(store, state)));
    }
    await actor.recover({ hasLostWorkspace: home === 'lost', hasLostFiles, cause });
  }
  if (home === 'lost' && !actor.isLost) await shared?.locations?.leave(sessionId);
  return { actor, lease, toolbox };
}

/** Renews the lease while a long log is read, which may take longer than the lease lasts. */
async function keepLease<Result>(
  parts: SessionParts,
  held: Held,
  lease: LeaseState,
  work: () => Promise<Result>,
): Promise<Result> {
  const { store, owner, clock, schedule, shared } = parts;
  if (shared === undefined) return await work();
  const ttlMs = leaseMsOf(parts);
  let cancel = () => {};
  const renewLater = () => {
    cancel = schedule(() => {
      const until = clock.steady() + ttlMs;
      void store.leases.renew({ owner, ttlMs, leases: [held] }).then(
        (lost) => lost.length === 0 && lease.renewed(until),
        // The store cannot be reached, or it rejects the first write because the lease was lost.
        () => {},
      );
      renewLater();
    }, ttlMs / 3);
  };
  renewLater();
  try {
    return await work();
  } finally {
    cancel();
  }
}

/** What the caller that opens a session knows about it, and its callbacks. */
export interface OpenedEvents {
  /** Why the last frame of this session could not be written; undefined if it was written. */
  readonly unwritable?: string | undefined;
  /** Why this process lost the session when it last owned it, if no other process has owned it since. */
  readonly lostBecause?: string | undefined;
  /** Called when another process owns the session, or the session cannot be written any more. */
  readonly onLost: (error: unknown) => void;
  /** Called when background work failed. */
  readonly onProblem: (error: unknown) => void;
  /** Called when another node has the workspace of the session. */
  readonly onElsewhere: () => void;
  /** Called when the log was read, before the session is recovered. */
  readonly onRead: (state: SessionState) => void;
}

interface Ownership extends Omit<OpenedEvents, 'onElsewhere' | 'onRead' | 'lostBecause'> {
  readonly state: SessionState;
  readonly fence: number;
  readonly lease: LeaseState;
  readonly toolbox: Toolbox;
  readonly hasLostFiles: boolean;
}

function createActor(
  parts: SessionParts,
  { state, fence, lease, toolbox, hasLostFiles, onLost, onProblem }: Ownership,
): SessionActor {
  const { log, engine, models, clock, ids, random, schedule, shared } = parts;
  const openFor = (use: WorkspaceUse) => async (sessionId: string) => {
    await shared?.locations?.settle(sessionId, use);
    return parts.openWorkspace(sessionId);
  };
  const offers = createOfferedTools(toolbox);
  const isPrepared = isToPrepare(state.created);
  const recorder = isRecorded(state) ? openRecorder(state, hasLostFiles, parts) : undefined;
  const beforePrepare = async () => {
    await shared?.locations?.settle(state.id, 'workspace');
    // A process that was killed may have logged that the workspace is discarded, and not have removed it.
    if (state.isDiscarded) await parts.removeWorkspace?.(state.id);
  };
  return new SessionActor({
    state,
    fence,
    log,
    decideByRules: parts.decideByRules,
    sources: { clock, ids, models },
    schedule,
    requests: {
      engine,
      offers,
      models,
      nextEventId: () => ids.next('sevt'),
      clock,
      schedule,
      retryDelayMs: (failures) => toRetryDelay(failures, random),
      prepareRequest: parts.prepareRequest ?? (async (request) => request),
      onEnd: parts.onRequestEnd ?? (() => {}),
    },
    tools: {
      offers,
      schedule,
      openWorkspace: openFor('workspace'),
      onThreadEnd: (threadId) => inBackground(toolbox.closeThread(threadId), onProblem),
    },
    programs: { engineOf: parts.programOf ?? (() => noProgram), openWorkspace: openFor('program') },
    prepareWorkspace: isPrepared ? (parts.prepareWorkspace ?? null) : null,
    recorder: recorder === undefined ? null : onNode(recorder, beforePrepare),
    threads: parts.threadWorkspaces ?? null,
    onLost,
    isOwner: () => lease.isHeld,
  });
}

/** Whether runs may need repositories to be cloned, packages to be installed, or files to be checked first. */
function isToPrepare({ is_recorded, is_read_only, environment, vault_ids = [] }: SessionCreated): boolean {
  const hasPart = is_recorded === true || environment.packages !== undefined || vault_ids.length > 0;
  return hasPart && is_read_only !== true;
}

/** Whether files of the session are recorded. The files of imported sessions are on another machine. */
function isRecorded({ created }: SessionState): boolean {
  return created.is_recorded === true && created.is_read_only !== true;
}

/** Before the workspace is created, the session is bound to this node. */
function onNode(recorder: WorkspaceRecorder, beforePrepare: () => Promise<void>): WorkspaceRecorder {
  return {
    prepare: async () => {
      await beforePrepare();
      return await recorder.prepare();
    },
    recordOutside: (call) => recorder.recordOutside(call),
    begin: (call) => recorder.begin(call),
    record: (cause) => recorder.record(cause),
    diff: (trees) => recorder.diff(trees),
    merge: (request) => recorder.merge(request),
    findObstacles: (trees) => recorder.findObstacles(trees),
    replace: (trees) => recorder.replace(trees),
    write: (trees) => recorder.write(trees),
    close: () => recorder.close(),
  };
}

const noProgram = createNoProgramEngine('this server runs no programs: choose another model');

/** Opens the recorder at the last recorded tree; a workspace that was lost is recorded from its beginning. */
function openRecorder(
  { id, workspace }: SessionState,
  hasLostFiles: boolean,
  parts: Pick<SessionParts, 'openRecorder'>,
) {
  const { tree = null, opened = null } = (hasLostFiles ? null : workspace) ?? {};
  return parts.openRecorder?.(id, tree, opened);
}
