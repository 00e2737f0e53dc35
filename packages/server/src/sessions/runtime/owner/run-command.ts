import type { SessionLog } from '../../../log/log.ts';
import type { Change } from '../../../store/write.ts';
import type { SessionActor } from '../actor.ts';
import { type CommandOutcome, toRefusal } from './command-outcome.ts';
import { type CommandPlan, type SessionCommand, planCommand } from './session-command.ts';

/** A command that was run. */
export interface CommandRun {
  readonly outcome: CommandOutcome;
  /** Whether the session no longer needs an owner. */
  readonly isOver: boolean;
  /** Whether the workspace of the session is to be removed, once nothing works in it. */
  readonly isDiscarded?: boolean;
}

/**
 * Runs a command on a session that this process owns. The changes that `toChanges` returns for its outcome are committed with
 * its frames, so that both exist or neither.
 */
export async function runCommand(
  { log, actor }: { readonly log: SessionLog; readonly actor: SessionActor },
  command: SessionCommand,
  toChanges: (outcome: CommandOutcome) => readonly Change[],
): Promise<CommandRun> {
  const decided = decide(actor, command);
  if (decided.type === 'refused') {
    await write(actor, toChanges(decided));
    return { outcome: decided, isOver: false };
  }
  const outcome: CommandOutcome = { type: decided.type === 'outdated' ? 'outdated' : 'done' };
  if (decided.type === 'delete') {
    await log.append({ type: 'delete', sessionId: actor.state.id, fence: actor.fence });
    return { outcome, isOver: true };
  }
  if (decided.type === 'decide_by_rules') {
    const answered: CommandOutcome = { type: 'done', count: await actor.ruleDecisions.decide() };
    await write(actor, toChanges(answered));
    return { outcome: answered, isOver: false };
  }
  if (decided.type === 'restore') {
    const restored = await restore(actor, decided);
    await write(actor, toChanges(restored));
    return { outcome: restored, isOver: false };
  }
  if (decided.type === 'merge') {
    const merged = await merge(actor, decided);
    await write(actor, toChanges(merged));
    return { outcome: merged, isOver: false };
  }
  if (decided.type === 'nothing' || decided.type === 'outdated') await write(actor, toChanges(outcome));
  else await actor.dispatch(decided, toChanges(outcome));
  const isDiscarded = decided.type === 'workspace_discarded' && !actor.isLost;
  return { outcome, isOver: isDiscarded || (decided.type === 'archive' && !actor.isLost), isDiscarded };
}

/** Replaces files of an idle session. A path that cannot be written is a refusal. */
async function restore(
  actor: SessionActor,
  { from, tree, by }: Extract<CommandPlan, { type: 'restore' }>,
): Promise<CommandOutcome> {
  try {
    await actor.files?.restore({ from, tree }, by);
    return { type: 'done' };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { type: 'refused', code: 'not_restored', problem: `the files cannot be recorded or restored (${reason})` };
  }
}

/** Merges the changes of a thread of an idle session. A conflict is a refusal. */
async function merge(
  actor: SessionActor,
  { threadId, by }: Extract<CommandPlan, { type: 'merge' }>,
): Promise<CommandOutcome> {
  try {
    const report = await actor.files?.merge({ threadId, toolUseId: null, by });
    if (report?.type === 'merged' || report?.type === 'nothing') return { type: 'done' };
    if (report?.type !== 'conflicts') throw new Error(report?.reason ?? 'its files are not recorded');
    const problem = `the changes of ${threadId} conflict with the workspace, and nothing was written`;
    return { type: 'refused', code: 'merge_conflict', problem };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      type: 'refused',
      code: 'not_mergeable',
      problem: `the changes of ${threadId} cannot be merged (${reason})`,
    };
  }
}

function decide(
  { state }: SessionActor,
  command: SessionCommand,
): CommandPlan | Extract<CommandOutcome, { type: 'refused' }> {
  try {
    return planCommand(state, command);
  } catch (error) {
    return toRefusal(error);
  }
}

/** Commits only the outcome, without frames. */
async function write(actor: SessionActor, changes: readonly Change[]): Promise<void> {
  if (changes.length > 0) await actor.dispatch({ type: 'inputs', inputs: [] }, changes);
}
