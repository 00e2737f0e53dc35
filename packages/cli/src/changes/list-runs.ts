import { realpathSync } from 'node:fs';
import { formatSpan } from '@fleetloom/protocol/text';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { writeText } from '../base/write-text.ts';
import { findTop } from '../run/run-workspace.ts';
import { printTable } from '../terminal/print-table.ts';
import { type KeptSession, listKeptSessions, type RunState, toRunState } from '../workspace/kept-runs.ts';

/** Options of `runs`. */
export interface RunsOptions {
  here?: boolean;
  json?: boolean;
}

/** `fleetloom runs`: lists the kept runs of this machine, the newest first. */
export async function listRuns(io: Io, { here, json }: RunsOptions): Promise<number> {
  const directory = here === true ? (findTop(io.cwd) ?? realpathSync(io.cwd)) : undefined;
  const runs = listKeptSessions(io.env).filter((run) => directory === undefined || run.directory === directory);
  if (json === true) {
    for (const run of runs) await writeText(io.stdout, `${toJsonText(io.stdout, toJson(run))}\n`);
    return exitCode.ok;
  }
  if (runs.length === 0) io.stderr.write('No runs are kept. Begin one in a repository with "fleetloom run".\n');
  else {
    const cells = runs.map((run) => toCells(run, io.timers.now()));
    await printTable(io, ['SESSION', 'AGE', 'CHANGES', 'DIRECTORY', 'TASK'], cells);
  }
  return exitCode.ok;
}

const STATES: Readonly<Record<RunState, string>> = { ended: 'ended', running: 'not ended', interrupted: 'interrupted' };

function toCells(run: KeptSession, nowMs: number): string[] {
  const { id, startedAt, changes, processId, directory, isInPlace, task } = run;
  const counts =
    changes === undefined
      ? STATES[toRunState({ changes, processId })]
      : `${changes.files_count} ${changes.files_count === 1 ? 'file' : 'files'} +${changes.lines_added} -${changes.lines_removed}`;
  return [id, formatSpan(nowMs - startedAt), counts, `${directory}${isInPlace ? ' (in place)' : ''}`, task];
}

function toJson({ id, startedAt, changes, processId, directory, isInPlace, task }: KeptSession): object {
  return {
    session_id: id,
    state: toRunState({ changes, processId }),
    started_at: new Date(startedAt).toISOString(),
    directory,
    in_place: isInPlace,
    task,
    changes: changes ?? null,
  };
}
