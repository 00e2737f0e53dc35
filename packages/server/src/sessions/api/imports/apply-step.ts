import type { Command, TakenEvent } from '../../core/command.ts';
import { MAIN } from '../../../engines/program/program.ts';
import { decide } from '../../core/decide.ts';
import type { Draft, Sources } from '../../core/draft.ts';
import { findThread } from '../../core/program/find-thread.ts';
import type { ModelFacts } from '../../runtime/run-request.ts';
import { primaryOf, type SessionState } from '../../core/state/state.ts';
import type { ImportedStep } from './imported-step.ts';

/** Sources of time, ids and prices for imported steps. */
export interface StepSources extends Sources {
  readonly models: ModelFacts;
}

/** Decides an imported step as if it happened here at the time of the step. */
export function applyStep(state: SessionState, step: ImportedStep, sources: StepSources): Draft[] {
  const clock = { now: () => step.time };
  return toCommands(state, step, sources).map((command) => decide(state, command, { ...sources, clock }));
}

function toCommands(state: SessionState, step: ImportedStep, { ids, models }: StepSources): Command[] {
  const { key, event } = step;
  if (event.type === 'said') {
    const input = { id: ids.next('sevt'), event: { type: 'user.message' as const, content: event.content } };
    // A turn that is still open was stopped: no message arrives in the middle of a turn.
    const isOpen = primaryOf(state).turn !== null;
    return [...(isOpen ? [toProgram(stopped)] : []), { type: 'inputs', inputs: [input] }];
  }
  if (event.type === 'block') {
    const { content } = event;
    return [
      ...reopen(state, key, 'answer'),
      toProgram({ type: 'block_ended', key, block: String(step.line), content }),
    ];
  }
  // The key and the event make up an event of a program.
  const taken = { key, ...event } as TakenEvent['event'];
  if (!inTurn.has(event.type)) return [toProgram(taken)];
  if (taken.type === 'call') return [...reopen(state, key, 'answer'), toProgram(taken)];
  if (taken.type !== 'request_ended') return [...reopen(state, key, 'turn'), toProgram(taken)];
  const costNanoUsd = models.costNanoUsd(taken.model, taken.usage, state.agent.model.speed);
  return [{ type: 'program', events: [{ event: taken, costNanoUsd }] }];
}

const stopped = {
  type: 'turn_ended',
  key: MAIN,
  outcome: { type: 'stopped' },
  isMoreToCome: false,
} as const;

const inTurn: ReadonlySet<string> = new Set(['request_started', 'request_ended', 'call', 'result']);

/** Opens a turn again that seemed to have ended, and a model request if the step is in the middle of a response. */
function reopen(state: SessionState, key: string, what: 'turn' | 'answer'): Command[] {
  const thread = findThread(state, primaryOf(state), key);
  if (thread === undefined || thread.turn !== null) return [];
  const turn = toProgram(key === MAIN ? { type: 'turn_started', key } : { type: 'thread_started', key, prompt: null });
  if (what === 'turn') return [turn];
  return [turn, toProgram({ type: 'request_started', key, model: state.agent.model.id })];
}

function toProgram(event: TakenEvent['event']): Command {
  return { type: 'program', events: [{ event }] };
}
