import { toEndedProgram } from '../../../engines/program/no-program.ts';
import type { Program, ProgramEngine, ProgramOptions } from '../../../engines/program/program.ts';
import type { StartOptions } from '../../../engines/program/program-options.ts';
import { listProgramThreads } from '../../core/state/program-threads.ts';
import type { SessionState, ThreadState } from '../../core/state/state.ts';
import { worktreeOwnerOf } from '../../core/state/workspace-of.ts';
import type { SessionFiles } from '../session-files.ts';
import { toProgramDefinition } from './program-definition.ts';

/** The session and the directories that a program starts in. */
export interface ProgramPlace {
  readonly engine: ProgramEngine;
  readonly state: SessionState;
  readonly openWorkspace: (sessionId: string) => Promise<string>;
  readonly files: SessionFiles | null;
}

/** The settings that a program starts with. */
export interface ProgramStart {
  /** The conversation that it continues; null for a new one. */
  readonly resume: string | null;
  readonly startOptions: StartOptions;
}

/**
 * Starts a program for a thread, in the workspace of the session or the worktree of the thread. `readStart` is called when the
 * directory is open, which may take a while: changes in the meantime are included.
 */
export async function startProgram(
  place: ProgramPlace,
  root: ThreadState,
  readStart: () => ProgramStart,
): Promise<Program> {
  const { engine, state } = place;
  const { networking, type } = state.created.environment;
  const hasVaults = state.created.vault_ids !== undefined;
  if (type === 'self_hosted') return toEndedProgram(ELSEWHERE, 'program_unavailable');
  const directory = await openDirectory(place, root);
  const { resume, startOptions } = readStart();
  const { conversationAt, isForked } = root.program;
  const { depth, settings } = startOptions;
  return await engine.open({
    ...toProgramDefinition(state, root),
    directory,
    networking,
    hasVaults,
    depthMax: Math.max(0, (depth ?? state.created.depth_max) - root.depth),
    settings,
    known: resume === null ? [] : listKnown(state, root),
    resume,
    forkAt: isForked ? (conversationAt ?? undefined) : undefined,
  });
}

const ELSEWHERE = 'a program runs its tools on this server, and this environment wants them elsewhere: use another one';

async function openDirectory({ state, files, openWorkspace }: ProgramPlace, root: ThreadState): Promise<string> {
  await files?.prepare();
  const owner = worktreeOwnerOf(state, root.id);
  return owner === null || files === null ? await openWorkspace(state.id) : await files.openWorktree(owner.id);
}

/** Sub-agents that the program may continue. */
function listKnown(state: SessionState, root: ThreadState): ProgramOptions['known'] {
  return listProgramThreads(state, root).flatMap(({ programKey: key, programCall: callId }) =>
    key === null || callId === null ? [] : [{ key, callId }],
  );
}
