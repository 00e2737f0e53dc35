import type { ChangesDiscarded } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { writeText } from '../base/write-text.ts';
import { confirm } from '../terminal/confirm.ts';
import { describeLoss } from '../workspace/describe-loss.ts';
import { isOwnDirectory, removeRun } from '../workspace/kept-runs.ts';
import { chooseOnlySession } from './choose-session.ts';
import { type ChangesOptions, type OpenedChanges, withChanges } from './open-changes.ts';

/** Options of `discard`. */
export interface DiscardOptions extends ChangesOptions {
  yes?: boolean;
}

/** `fleetloom discard`: removes the workspace of a session, after printing what is lost. */
export async function discard(io: Io, given: string | undefined, options: DiscardOptions): Promise<number> {
  const session = await chooseOnlySession(io, given, options);
  let emptied: OpenedChanges['run'];
  const remove = async ({ api, path, run, sessionId }: OpenedChanges) => {
    const lost = await api.post<ChangesDiscarded>(`${path}/changes/discard`, { dry_run: true }).catch(toInPlace(run));
    if (lost?.directory === null && options.json !== true) {
      // Repeated, because a crash may have left files of the discarded workspace.
      await api.post(`${path}/changes/discard`, {});
      emptied = run;
      await writeText(io.stdout, 'Already discarded.\n');
      return exitCode.ok;
    }
    const loss = lost === undefined ? describeRecord(run) : describeLoss(io, lost);
    if (options.json !== true) await writeText(io.stderr, loss);
    if (options.yes !== true && !(await confirm(io, `Discard ${sessionId}?`))) {
      await writeText(io.stderr, 'Nothing was removed.\n');
      return exitCode.failed;
    }
    if (lost === undefined) {
      // Deleting the session removes `.fleetloom` from the directory, but none of the user's files.
      const response = await api.open(path, { method: 'DELETE' });
      const deleted = await response.text();
      await writeText(
        io.stdout,
        options.json === true ? `${deleted}\n` : `Discarded ${sessionId}. Your files were kept.\n`,
      );
      emptied = run;
      return exitCode.ok;
    }
    const gone = await api.post<ChangesDiscarded>(`${path}/changes/discard`, {});
    if (options.json === true) await writeText(io.stdout, `${toJsonText(io.stdout, gone)}\n`);
    else await writeText(io.stdout, `Discarded ${sessionId}.\n`);
    emptied = run;
    return exitCode.ok;
  };
  const code = await withChanges(io, session, options, remove, { needsEnd: true });
  // The data directory of a single run contains nothing else.
  if (emptied !== undefined && isOwnDirectory(io.env, emptied.data)) await removeRun(emptied.data);
  return code;
}

/** Ignores the error for a run that worked in place, which has no workspace to remove, only its record. */
function toInPlace(run: OpenedChanges['run']): (error: unknown) => undefined {
  return (error) => {
    if (run === undefined || !(error instanceof CommandError) || error.code !== 'not_applicable') throw error;
  };
}

function describeRecord(run: OpenedChanges['run']): string {
  const [directory = ''] = run?.directories ?? [];
  return `This removes the record of the run and .fleetloom in ${cleanLine(directory)}. Your files are kept.\n`;
}
