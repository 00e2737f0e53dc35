import type { FileCounts, WorkspaceChanges } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { applyChanges, describeApplied } from '../workspace/apply-changes.ts';
import { drawStat } from '../workspace/draw-stat.ts';
import { listConflicts } from '../workspace/list-conflicts.ts';
import { CommandError } from '../base/command-error.ts';
import type { Io } from '../base/io.ts';
import { toStderrIo } from '../base/stderr-io.ts';
import type { ServerApi } from '../connection/server-api.ts';
import { detectLook, drawingWidth } from '../terminal/look.ts';
import type { RunWorkspace } from './run-workspace.ts';
import { toPasted } from '../base/to-pasted.ts';
import { quotePath } from '../workspace/quote-path.ts';

/** A run that has ended, with its session and workspace. */
export interface EndedRun {
  readonly api: ServerApi;
  readonly sessionId: string;
  readonly workspace: RunWorkspace;
  /** Flags with which the printed commands find the session, such as `--data ./runs`. */
  readonly flags: readonly string[];
  readonly options: { readonly json?: boolean; readonly apply?: boolean };
  /** Whether the run was stopped before it ended: nothing is applied then. */
  readonly isStopped: boolean;
  /** Called before changes are applied, so that they are recorded even if that fails. */
  readonly onChanges: (changes: FileCounts) => Promise<void>;
}

/**
 * Prints the changes of the agents and the commands that apply or discard them; with --apply, applies them. Returns counts if the session has
 * to be kept: without changes, or once they are applied, its worktree is removed.
 */
export async function finishWorkspace(io: Io, run: EndedRun): Promise<FileCounts | undefined> {
  const { api, sessionId, workspace, options, isStopped } = run;
  const path = `/v1/sessions/${encodeURIComponent(sessionId)}`;
  const changes = await api.get<WorkspaceChanges>(`${path}/changes`);
  const print = (text: string) => void (options.json === true || io.stderr.write(toPasted(io, text)));
  if (changes.state !== 'open') return undefined;
  const { files_count, lines_added, lines_removed } = changes;
  const kept: FileCounts = { files_count, lines_added, lines_removed };
  await run.onChanges(kept);
  if (changes.files_count === 0 && changes.not_recorded_count === 0) {
    print('\nNo files changed.\n');
    return workspace.isInPlace || !(await discard(api, path)) ? kept : undefined;
  }
  const screen = toStderrIo(io);
  const drawing = { paint: detectLook(screen).paint, width: drawingWidth(screen) };
  if (options.apply === true && !isStopped && changes.files_count > 0) {
    const applied = await applyChanges({ api, path }, [], {}).catch((error: unknown) => {
      // The changes were not applied and are still in the workspace.
      print(`\n${drawStat(changes, drawing).join('\n')}\n${toCommands(run)}`);
      const conflicts = error instanceof CommandError ? listConflicts(error) : [];
      if (conflicts.length > 0) print(`\n${conflicts.join('\n')}\n`);
      throw error;
    });
    print(`\n${describeApplied(screen, applied)}`);
    if (changes.not_recorded_count > 0) {
      // Removing the worktree would lose the files that were not recorded.
      const where = nameCopy(changes).replace(/^a /, 'the ');
      print(`Not applied, and kept in ${where}: ${listNotRecorded(changes)}.\n${toCommands(run)}`);
      return kept;
    }
    return (await discard(api, path)) ? undefined : kept;
  }
  const where = workspace.isInPlace
    ? cleanLine(workspace.directory)
    : `${nameCopy(changes)}; your files are as they were`;
  const missing = changes.not_recorded_count === 0 ? '' : `Not recorded: ${listNotRecorded(changes)}.\n`;
  print(`\nChanged in ${where}:\n${drawStat(changes, drawing).join('\n')}\n${missing}${toCommands(run)}`);
  return kept;
}

/** Names the workspace: a repository without commits has a copy instead of a worktree. */
function nameCopy({ source }: WorkspaceChanges): string {
  return source.type === 'directory' && source.mode === 'copy' ? 'a copy' : 'a worktree';
}

function listNotRecorded({ not_recorded: files, not_recorded_count: count }: WorkspaceChanges): string {
  const names = files.map(({ path, reason }) => `${quotePath(path)} (${cleanLine(reason)})`).join(', ');
  return count > files.length ? `${names} and ${count - files.length} more` : names;
}

async function discard(api: ServerApi, path: string): Promise<boolean> {
  return await api.post(`${path}/changes/discard`, {}).then(
    () => true,
    // A thread may still be at work. Then the worktree stays, and `fleetloom discard` removes it.
    () => false,
  );
}

function toCommands({ sessionId, flags, workspace }: EndedRun): string {
  const command = (name: string, ...more: readonly string[]) =>
    ['fleetloom', name, sessionId, ...flags, ...more].join(' ');
  const rows = workspace.isInPlace
    ? [
        ['see it', command('diff')],
        ['undo it', command('restore', '--at', 'start')],
      ]
    : [
        ['see it', command('diff')],
        ['take it', command('apply')],
        ['leave it', command('discard')],
      ];
  return `\n${rows.map(([label, text]) => `  ${label!.padEnd(9)} ${text}\n`).join('')}`;
}
