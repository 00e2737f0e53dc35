import { isDeepStrictEqual } from 'node:util';
import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import type { JsonObject } from '../base/json.ts';
import { startOptionsOf } from '../engines/program-options.ts';
import type { Budget, FramePayloads } from '../frames/frames.ts';
import { isReached } from './budget.ts';
import { sessionError } from './session-errors.ts';
import type { SessionState } from './state.ts';
import { sumTokens } from './usage.ts';

/** What is left out stays as it is. */
export interface SessionUpdate {
  readonly title?: string | null;
  /** All of it; or given what it is now, so that of two who change different keys at once both are heard. */
  readonly metadata?: JsonObject | ((before: JsonObject) => JsonObject);
  /** Given the agent as it is now. Not while the session runs. */
  readonly agent?: (agent: SessionAgent) => SessionAgent;
  readonly budget?: Budget | null;
}

/** What an update is made on. Only its owner knows how much else than tokens a session has used up. */
export type Updatable = Pick<SessionState, 'id' | 'status' | 'title' | 'metadata' | 'agent' | 'budget' | 'usage'> &
  Partial<Pick<SessionState, 'requests' | 'active'>>;

/** Only what is different from what it was. */
export function toUpdate(state: Updatable, request: SessionUpdate): Omit<FramePayloads['session.updated'], 'id'> {
  const { title, agent: change, budget } = request;
  const metadata = typeof request.metadata === 'function' ? request.metadata(state.metadata) : request.metadata;
  if (change !== undefined && state.status !== 'idle') {
    throw sessionError('session_running', `the agent of ${state.id} cannot be changed while it is ${state.status}`);
  }
  if (metadata !== undefined && state.status !== 'idle' && !isSameStart(metadata, state.metadata)) {
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

function isSameStart(metadata: JsonObject, before: JsonObject): boolean {
  return isDeepStrictEqual(startOptionsOf(metadata), startOptionsOf(before));
}

/** A budget can be changed or taken away, and only be there from the beginning. */
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
