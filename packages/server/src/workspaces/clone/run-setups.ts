import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isCode } from '../../tools/workspace/directory.ts';
import { toInside } from '../../tools/workspace/session-paths.ts';
import type { RepositoryResource } from '../repository-sources.ts';
import type { RunSetup } from '../sources/run-setup.ts';
import { PLAIN_MOUNTS, type SetupResult } from '../workspace-source.ts';

/** The clones of a session whose setup commands may have to run. */
export interface SetupsTask {
  readonly runSetup: RunSetup;
  readonly workspace: string;
  /** The directory with the notes about executed commands, which agents cannot reach. */
  readonly notes: string;
  /** The repositories that are in the workspace, in the order in which their setup commands run. */
  readonly cloned: readonly RepositoryResource[];
  /** Logs how a setup command ended. */
  readonly onSetup: (setup: SetupResult) => Promise<void>;
  readonly signal: AbortSignal;
}

/** The result of running the setup commands. */
export interface RunSetups {
  /** The first command that failed, now or earlier. Later commands do not run. */
  readonly failed: SetupResult | null;
  /** Whether a command has run now. */
  readonly hasRun: boolean;
}

/** Runs the setup command of each clone once, in the directory of the clone. A command that a crash interrupted runs again. */
export async function runSetups(task: SetupsTask): Promise<RunSetups> {
  let hasRun = false;
  for (const { id, setup: command, mount_path: path } of task.cloned) {
    if (command == null) continue;
    const file = join(task.notes, `${id}.setup.json`);
    let note = await readNote(file);
    if (note === undefined) {
      const { runSetup, workspace, signal } = task;
      const result = await runSetup({ command, workspace, inside: toInside(path)!, mounts: PLAIN_MOUNTS, signal });
      // The command was stopped by the signal, which is not a failure.
      if (signal.aborted) break;
      hasRun = true;
      note = { result, isLogged: false };
      await writeNote(file, note);
    }
    if (!note.isLogged) {
      await task.onSetup(note.result);
      await writeNote(file, { ...note, isLogged: true });
    }
    if (note.result.code !== 0) return { failed: note.result, hasRun };
  }
  return { failed: null, hasRun };
}

interface SetupNote {
  readonly result: SetupResult;
  /** Whether the result was logged. A crash between logging and this note makes it logged twice. */
  readonly isLogged: boolean;
}

async function readNote(file: string): Promise<SetupNote | undefined> {
  try {
    // The cast is safe because only this module writes these files.
    return JSON.parse(await readFile(file, 'utf8')) as SetupNote;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function writeNote(file: string, note: SetupNote): Promise<void> {
  await writeFile(`${file}.draft`, JSON.stringify(note), { mode: 0o600 });
  await rename(`${file}.draft`, file);
}
