import { inBackground } from '../base/in-background.ts';
import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { Engine } from '../engines/engine.ts';
import { createNoProgramEngine } from '../engines/no-program.ts';
import type { ProgramEngine } from '../engines/program.ts';
import type { SessionLog } from '../store/log.ts';
import type { Schedule } from '../base/schedule.ts';
import type { Held, Store } from '../store/store.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import { SessionActor } from './actor.ts';
import { createOffers } from './offers.ts';
import type { Homes, HomeUse } from './owner/homes.ts';
import { LeaseBelief } from './owner/lease-belief.ts';
import { readState } from './read-state.ts';
import { toRetryDelay } from './retry-delay.ts';
import type { ModelFacts } from './run-request.ts';
import { sessionError } from './session-errors.ts';
import { isProgram, type SessionState } from './state.ts';

/** What sessions work with. */
export interface SessionParts {
  readonly store: Store;
  readonly log: SessionLog;
  readonly engine: Engine;
  /** Runs sessions whose agent is a program, if there is one. */
  readonly programs?: ProgramEngine | undefined;
  readonly models: ModelFacts;
  readonly openToolbox: (sessionId: string, environment: SessionState['created']['environment']) => Toolbox;
  /** Makes the directory of the session if it is not there, and gives its path. */
  readonly openWorkspace: (sessionId: string) => Promise<string>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: () => number;
  /** Who this process is among those that share the store. */
  readonly owner: string;
  readonly schedule: Schedule;
  /** A long log was read without a checkpoint near its end. */
  readonly onLongLog?: ((sessionId: string, head: number) => void) | undefined;
  /** Set where several processes share the store: then each of them has to doubt that a session is still its own. */
  readonly shared?: SharedParts | undefined;
}

export interface SharedParts {
  /** Where sessions live; undefined if all processes have the same disk. */
  readonly homes?: Homes | undefined;
  /** Among how many processes what nobody owns is to be shared, this one included. */
  readonly countNodes?: (() => number) | undefined;
  readonly busySessionsMax?: number | undefined;
  readonly leaseMs?: number | undefined;
  readonly tickMs?: number | undefined;
  readonly handOverToolsMs?: number | undefined;
}

export interface OpenedSession {
  readonly actor: SessionActor;
  readonly lease: LeaseBelief;
  readonly toolbox: Toolbox;
}

/** How long a session belongs to who has taken it. */
export function leaseMsOf({ shared }: Pick<SessionParts, 'shared'>): number {
  return shared === undefined ? limits.leaseMs : (shared.leaseMs ?? limits.sharedLeaseMs);
}

/**
 * A session that nobody else owns, as its log says that it is, at work again. Nothing while somebody else owns it, or has
 * its workspace.
 */
export async function openSession(
  parts: SessionParts,
  sessionId: string,
  events: OpenedEvents,
): Promise<OpenedSession | undefined> {
  const { store, owner, clock, shared } = parts;
  const home = await shared?.homes?.find(sessionId);
  if (home === 'elsewhere') {
    events.onElsewhere();
    return undefined;
  }
  const ttlMs = leaseMsOf(parts);
  const askedAt = clock.steady();
  const acquired = await store.leases.acquire({ sessionId, owner, ttlMs });
  if (!acquired.ok) return undefined;
  const lease = new LeaseBelief(clock, shared === undefined ? Number.POSITIVE_INFINITY : askedAt + ttlMs);
  const onLong = parts.onLongLog;
  const held = { sessionId, fence: acquired.fence };
  const state = await keepLease(parts, held, lease, () => readState(store, sessionId, { onLong }));
  if (state === undefined) throw sessionError('session_not_found', `there is no session ${sessionId}`);
  const toolbox = parts.openToolbox(sessionId, state.created.environment);
  const actor = createActor(parts, { state, fence: acquired.fence, lease, toolbox, ...events });
  const { unwritable, lostBecause: cause } = events;
  // Whoever went on with it would come to the same, and pay for it again.
  if (unwritable !== undefined) await actor.dispatch({ type: 'unwritable', message: unwritable });
  else await actor.recover({ hasLostWorkspace: home === 'lost', cause });
  if (home === 'lost' && !actor.isLost) await shared?.homes?.leave(sessionId);
  return { actor, lease, toolbox };
}

/** A long log takes longer to be read than a lease lasts. Without this nobody would ever come to its end. */
async function keepLease<Result>(
  parts: SessionParts,
  held: Held,
  lease: LeaseBelief,
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
        // The store is away, or it will say at the first write that the lease was lost.
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

export interface OpenedEvents {
  /** Why what this session last came to could not be written, if that was so. */
  readonly unwritable?: string | undefined;
  /** Why this process lost the session when it last owned it, if no other process has owned it since. */
  readonly lostBecause?: string | undefined;
  /** It belongs to somebody else now, or cannot be written any more. */
  readonly onLost: (error: unknown) => void;
  /** Something went wrong that nobody waits for. */
  readonly onProblem: (error: unknown) => void;
  /** Another node has its workspace. */
  readonly onElsewhere: () => void;
}

interface Ownership extends Omit<OpenedEvents, 'onElsewhere' | 'lostBecause'> {
  readonly state: SessionState;
  readonly fence: number;
  readonly lease: LeaseBelief;
  readonly toolbox: Toolbox;
}

function createActor(
  parts: SessionParts,
  { state, fence, lease, toolbox, onLost, onProblem }: Ownership,
): SessionActor {
  const { log, engine, models, clock, ids, random, schedule, shared } = parts;
  const openFor = (use: HomeUse) => async (sessionId: string) => {
    await shared?.homes?.settle(sessionId, use);
    return parts.openWorkspace(sessionId);
  };
  const offers = createOffers(toolbox);
  return new SessionActor({
    state,
    fence,
    log,
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
    },
    tools: {
      offers,
      schedule,
      openWorkspace: openFor('workspace'),
      onThreadEnd: (threadId) => inBackground(toolbox.closeThread(threadId), onProblem),
    },
    program: isProgram(state) ? { engine: parts.programs ?? noPrograms, openWorkspace: openFor('program') } : null,
    onLost,
    isOwner: () => lease.isHeld,
  });
}

const noPrograms = createNoProgramEngine('this server runs no programs: choose another model');
