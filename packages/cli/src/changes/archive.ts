import type { Session } from '@fleetloom/protocol/managed-agents';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { writeText } from '../base/write-text.ts';
import { chooseOnlySession } from './choose-session.ts';
import { type ChangesOptions, type OpenedChanges, withChanges } from './open-changes.ts';

/** `fleetloom archive`: ends sessions, keeps them readable, and releases the directories that they work on in place. */
export async function archive(io: Io, sessions: readonly string[], options: ChangesOptions): Promise<number> {
  for (const given of sessions) {
    const session = await chooseOnlySession(io, given, options);
    const end = async ({ api, path, sessionId }: OpenedChanges) => {
      const archived = await api.post<Session>(`${path}/archive`, {});
      const text = options.json === true ? toJsonText(io.stdout, archived) : `Archived ${sessionId}.`;
      await writeText(io.stdout, `${text}\n`);
      return exitCode.ok;
    };
    await withChanges(io, session, options, end, { needsEnd: true });
  }
  return exitCode.ok;
}
