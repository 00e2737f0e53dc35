import type { InputRecord } from '../../store/records.ts';
import type { Change } from '../../store/write.ts';
import type { ClientInput } from '../client-event.ts';
import { type CommandOutcome, toOutcomeKey } from './command-outcome.ts';
import type { SessionCommand } from './session-command.ts';

/** What waits for the owner of a session, in its order: events that are taken up together, and commands one by one. */
export type Batch =
  | { readonly type: 'inputs'; readonly inputs: readonly ClientInput[] }
  | {
      readonly type: 'command';
      readonly command: SessionCommand;
      /** Nobody waits for it any longer than until then, by the clock of the store. */
      readonly expiresAt: number;
      /** It is consumed, and its outcome told. */
      readonly toChanges: (told: CommandOutcome, now: number) => readonly Change[];
    };

export function toBatches(records: readonly InputRecord[]): readonly Batch[] {
  const batches: Batch[] = [];
  let inputs: ClientInput[] = [];
  const flush = () => {
    if (inputs.length > 0) batches.push({ type: 'inputs', inputs });
    inputs = [];
  };
  for (const { id, threadId, data } of records) {
    if (data['command'] === undefined) {
      // Only `send` and `askOwner` write inputs, so their forms are known.
      inputs.push({ id, event: data['event'] as unknown as ClientInput['event'], threadId });
      continue;
    }
    flush();
    batches.push({
      type: 'command',
      command: data['command'] as unknown as SessionCommand,
      expiresAt: data['expires_at'] as number,
      toChanges: (told, now) => [
        { type: 'consume_inputs', inputIds: [id] },
        { type: 'put_key', key: toOutcomeKey(id, told, now) },
      ],
    });
  }
  flush();
  return batches;
}
