import { isDeepStrictEqual } from 'node:util';
import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import { modelsOf } from '../../../agents/models-of.ts';
import type { JsonObject } from '../../../base/json/json.ts';
import { startOptionsOf } from '../../../engines/program/program-options.ts';
import type { FramePayloads } from '../../../frames/frames.ts';
import type { Budget } from '../../../frames/payload-parts.ts';
import { isReached } from '../state/budget.ts';
import { sessionError } from '../session-errors.ts';
import type { SessionState } from '../state/state.ts';
import { sumTokens } from '../state/usage.ts';

/** Changes of a session. Fields that are left out stay as they are. */
export interface SessionUpdate {
  readonly title?: string | null;
  /** The new metadata, or a function of the current one, so that two callers can change different keys at the same time. */
  readonly metadata?: JsonObject | ((before: JsonObject) => JsonObject);
  /** The new agent, given the current one. Only while the session is idle. */
  readonly agent?: (agent: SessionAgent) => SessionAgent;
  readonly budget?: Budget | null;
}

/** The state that an update is made on. Only the owner of a session knows its requests and active time. */
export type Updatable = Pick<SessionState, 'id' | 'status' | 'title' | 'metadata' | 'agent' | 'budget' | 'usage'> &
  Partial<Pick<SessionState, 'requests' | 'active'>>;

/** The payload of an update: only fields that change. Throws if the session does not allow the change now. */
export function toUpdate(state: Updatable, request: SessionUpdate): Omit<FramePayloads['session.updated'], 'id'> {
  const { title, agent: change, budget } = request;
  const metadata = typeof request.metadata === 'function' ? request.metadata(state.metadata) : request.metadata;
  if (change !== undefined && state.status !== 'idle') {
    throw sessionError('session_running', `the agent of ${state.id} cannot be changed while it is ${state.status}`);
  }
  if (metadata !== undefined && state.status !== 'idle' && !isSameStart(state, metadata)) {
    throw sessionError(
      'session_running',
      `the options that the program of ${state.id} starts with cannot be changed while it is ${state.status}`,
    );
  }
  if (budget !== undefined) checkBudget(state, budget);
  const agent = change?.(state.agent);
  return {
    ...(title === undefined || title === state.title ? {} : { title }),
    ...(metadata === undefined || isDeepStrictEqual(metadata, state.metadata) ? {} : { metadata }),
    ...(agent === undefined || isDeepStrictEqual(agent, state.agent) ? {} : { agent }),
    ...(budget === undefined || isDeepStrictEqual(budget, state.budget) ? {} : { budget }),
  };
}

function isSameStart({ agent, metadata: before }: Updatable, metadata: JsonObject): boolean {
  return modelsOf(agent).every((model) =>
    isDeepStrictEqual(startOptionsOf(model, metadata), startOptionsOf(model, before)),
  );
}

/** A budget can be changed or removed, but not added to a session that was created without one. */
function checkBudget(state: Updatable, budget: Budget | null): void {
  if (budget === null) return;
  if (state.budget === null) throw sessionError('budget_create_only', `${state.id} was created without a budget`);
  const { usage, requests = 0, active } = state;
  const isUsedUp =
    isReached(usage.cost_nano_usd, budget.cost_nano_usd) ||
    isReached(sumTokens(usage), budget.tokens) ||
    isReached(requests, budget.requests) ||
    isReached(active?.totalMs ?? 0, budget.wall_ms);
  if (isUsedUp) throw sessionError('budget_not_raised', `${state.id} has already used as much`);
}
