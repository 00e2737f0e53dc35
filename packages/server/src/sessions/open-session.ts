import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { Engine } from '../engines/engine.ts';
import { createNoProgramEngine } from '../engines/no-program.ts';
import type { ProgramEngine } from '../engines/program.ts';
import type { SessionLog } from '../store/log.ts';
import type { Schedule } from '../base/schedule.ts';
import type { Store } from '../store/store.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import { SessionActor } from './actor.ts';
import { createOffers } from './offers.ts';
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
}

export interface OpenedSession {
  readonly actor: SessionActor;
  readonly toolbox: Toolbox;
}

/** A session that nobody else owns, as its log says that it is, at work again. Nothing while somebody else owns it. */
export async function openSession(
  parts: SessionParts,
  sessionId: string,
  events: OpenedEvents,
): Promise<OpenedSession | undefined> {
  const { store, owner } = parts;
  const lease = await store.leases.acquire({ sessionId, owner, ttlMs: limits.leaseMs });
  if (!lease.ok) return undefined;
  const state = await readState(store, sessionId);
  if (state === undefined) throw sessionError('session_not_found', `there is no session ${sessionId}`);
  const toolbox = parts.openToolbox(sessionId, state.created.environment);
  const actor = createActor(parts, { state, fence: lease.fence, toolbox, ...events });
  const { unwritable } = events;
  // Whoever went on with it would come to the same, and pay for it again.
  if (unwritable === undefined) await actor.recover();
  else await actor.dispatch({ type: 'unwritable', message: unwritable });
  return { actor, toolbox };
}

export interface OpenedEvents {
  /** Why what this session last came to could not be written, if that was so. */
  readonly unwritable?: string | undefined;
  /** It belongs to somebody else now, or cannot be written any more. */
  readonly onLost: (error: unknown) => void;
  /** Something went wrong that nobody waits for. */
  readonly onProblem: (error: unknown) => void;
}

interface Ownership extends OpenedEvents {
  readonly state: SessionState;
  readonly fence: number;
  readonly toolbox: Toolbox;
}

function createActor(parts: SessionParts, { state, fence, toolbox, onLost, onProblem }: Ownership): SessionActor {
  const { log, engine, models, clock, ids, random, schedule, openWorkspace } = parts;
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
      openWorkspace,
      onThreadEnd: (threadId) => void toolbox.closeThread(threadId).catch(onProblem),
    },
    program: isProgram(state) ? { engine: parts.programs ?? noPrograms, openWorkspace } : null,
    onLost,
  });
}

const noPrograms = createNoProgramEngine('this server runs no programs: choose another model');
