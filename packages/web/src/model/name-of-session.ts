import { toSessionName } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import type { SessionModel } from './session-model.ts';

/** The name of a session, as the server lists it: its title, or the first words of its first message; never an id. */
export function nameOfSession({ record, slots }: Pick<SessionModel, 'record' | 'slots'>): string {
  return cleanLine(toSessionName({ title: record?.title ?? null, firstMessage: slots.runs[0]?.message ?? null }));
}
