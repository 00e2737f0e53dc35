import type { SessionLog } from '../../store/log.ts';
import type { Change } from '../../store/write.ts';
import type { SessionActor } from '../actor.ts';
import { type CommandOutcome, toRefusal } from './command-outcome.ts';
import { type Deed, type SessionCommand, toDeed } from './session-command.ts';

export interface CarriedOut {
  readonly told: CommandOutcome;
  /** The session needs no owner any more. */
  readonly isOver: boolean;
}

/**
 * Does what a command says to a session that this process owns. What `toChanges` gives for its outcome is written together
 * with what is done, so that nobody can have the one without the other.
 */
export async function carryOut(
  { log, actor }: { readonly log: SessionLog; readonly actor: SessionActor },
  command: SessionCommand,
  toChanges: (told: CommandOutcome) => readonly Change[],
): Promise<CarriedOut> {
  const decided = decide(actor, command);
  if (decided.type === 'refused') {
    await write(actor, toChanges(decided));
    return { told: decided, isOver: false };
  }
  const told: CommandOutcome = { type: decided.type === 'outdated' ? 'outdated' : 'done' };
  if (decided.type === 'delete') {
    await log.append({ type: 'delete', sessionId: actor.state.id, fence: actor.fence });
    return { told, isOver: true };
  }
  if (decided.type === 'nothing' || decided.type === 'outdated') await write(actor, toChanges(told));
  else await actor.dispatch(decided, toChanges(told));
  return { told, isOver: decided.type === 'archive' && !actor.isLost };
}

function decide({ state }: SessionActor, command: SessionCommand): Deed | Extract<CommandOutcome, { type: 'refused' }> {
  try {
    return toDeed(state, command);
  } catch (error) {
    return toRefusal(error);
  }
}

/** Nothing happens in the session; only what is to be told is written. */
async function write(actor: SessionActor, changes: readonly Change[]): Promise<void> {
  if (changes.length > 0) await actor.dispatch({ type: 'inputs', inputs: [] }, changes);
}
