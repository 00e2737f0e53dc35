import type { InputRecord } from '../../../store/records.ts';
import type { Change } from '../../../store/write.ts';
import type { ClientInput } from '../../core/client-event.ts';
import { type CommandOutcome, toOutcomeKey } from './command-outcome.ts';
import type { SessionCommand } from './session-command.ts';

/** Pending inputs of a session in their order: events that are applied together, and commands one by one. */
export type Batch =
  | { readonly type: 'inputs'; readonly inputs: readonly ClientInput[] }
  | {
      readonly type: 'command';
      readonly command: SessionCommand;
      /** When its caller stops waiting, by the clock of the store. */
      readonly expiresAt: number;
      /** The changes that consume the command and store its outcome. */
      readonly toChanges: (outcome: CommandOutcome, now: number) => readonly Change[];
    };

/** Groups pending inputs: consecutive events become one batch, each command is one. */
export function toBatches(records: readonly InputRecord[]): readonly Batch[] {
  const batches: Batch[] = [];
  let inputs: ClientInput[] = [];
  const flush = () => {
    if (inputs.length > 0) batches.push({ type: 'inputs', inputs });
    inputs = [];
  };
  for (const { id, threadId, data } of records) {
    if (data['command'] === undefined) {
      // Only `send` and `forwardCommand` write inputs, so their forms are known.
      inputs.push({ id, event: data['event'] as unknown as ClientInput['event'], threadId });
      continue;
    }
    flush();
    batches.push({
      type: 'command',
      command: data['command'] as unknown as SessionCommand,
      expiresAt: data['expires_at'] as number,
      toChanges: (outcome, now) => [
        { type: 'consume_inputs', inputIds: [id] },
        { type: 'put_key', key: toOutcomeKey(id, outcome, now) },
      ],
    });
  }
  flush();
  return batches;
}
