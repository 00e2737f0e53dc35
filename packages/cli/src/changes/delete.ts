import type { ChangesDiscarded } from '@fleetloom/protocol/fleet';
import type { Session } from '@fleetloom/protocol/managed-agents';
import { cleanLine } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { writeText } from '../base/write-text.ts';
import { chooseOnlySession } from './choose-session.ts';
import { type ChangesOptions, type OpenedChanges, withChanges } from './open-changes.ts';
import { confirm } from '../terminal/confirm.ts';
import { describeLoss } from '../workspace/describe-loss.ts';
import { isOwnDirectory, removeRun } from '../workspace/kept-runs.ts';

/** Options of `delete`. */
export interface DeleteOptions extends ChangesOptions {
  yes?: boolean;
}

/** `fleetloom delete`: deletes sessions one by one, each after printing what is lost. */
export async function deleteSessions(io: Io, sessions: readonly string[], options: DeleteOptions): Promise<number> {
  let code: number = exitCode.ok;
  for (const given of sessions) {
    let emptied: OpenedChanges['run'];
    const session = await chooseOnlySession(io, given, options);
    const remove = async (opened: OpenedChanges) => {
      const { api, path, sessionId, run } = opened;
      const loss = await readLoss(io, opened);
      if (options.json !== true) await writeText(io.stderr, loss);
      if (options.yes !== true && !(await confirm(io, `Delete ${sessionId}?`))) {
        await writeText(io.stderr, 'Nothing was deleted.\n');
        return exitCode.failed;
      }
      const deleted = await (await api.open(path, { method: 'DELETE' })).text();
      await writeText(io.stdout, options.json === true ? `${deleted}\n` : `Deleted ${sessionId}.\n`);
      emptied = run;
      return exitCode.ok;
    };
    const result = await withChanges(io, session, options, remove, { needsEnd: true });
    // The data directory of a single run contains nothing else.
    if (emptied !== undefined && isOwnDirectory(io.env, emptied.data)) await removeRun(emptied.data);
    if (result !== exitCode.ok) code = result;
  }
  return code;
}

async function readLoss(io: Io, { api, path }: OpenedChanges): Promise<string> {
  const session = await api.get<Session>(path);
  const title = session.title === null ? '' : ` "${cleanLine(session.title)}"`;
  const log = `This deletes the log of ${session.id}${title}, with all messages and results.\n`;
  const lost = await api.post<ChangesDiscarded>(`${path}/changes/discard`, { dry_run: true }).catch(toNothingLost);
  if (lost === undefined || lost.directory === null) return `${log}${describeKept(session)}`;
  return `${log}${describeLoss(io, lost)}`;
}

/** Ignores the errors for a session without a workspace of its own: nothing was recorded, it is not open yet, or the session works in place. */
function toNothingLost(error: unknown): undefined {
  if (error instanceof CommandError && NOTHING_LOST.has(error.code ?? '')) return undefined;
  throw error;
}

const NOTHING_LOST: ReadonlySet<string> = new Set(['not_recorded', 'workspace_not_open', 'not_applicable']);

function describeKept({ resources }: Session): string {
  // The type lists the resources of the hosted API; Fleetloom has more.
  const all = resources as readonly { readonly type: string; readonly path?: string; readonly mode?: string }[];
  const directory = all.find(({ type, mode }) => type === 'directory' && (mode === 'in_place' || mode === 'read_only'));
  return directory === undefined ? '' : `Your files in ${cleanLine(directory.path ?? '')} are kept.\n`;
}
