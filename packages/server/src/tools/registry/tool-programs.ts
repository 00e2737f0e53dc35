import { findProgram } from '../find-program.ts';
import { openHostSandbox } from '../host/server/host-sandbox.ts';
import { listManagers } from '../packages/package-commands.ts';

/** The programs and protections that tools need from this machine. */
export interface ToolPrograms {
  /** Why tools cannot run in a sandbox; null if they can. */
  readonly sandboxProblem: string | null;
  /** Protections of the sandbox that this machine does not allow, each with what can be done about it. */
  readonly sandboxGaps: readonly { readonly text: string; readonly fix: string }[];
  /** Whether searches use ripgrep; without it they are slower, and find the same. */
  readonly hasRipgrep: boolean;
  /** The package managers that sandboxes have. */
  readonly packageManagers: readonly string[];
}

/** Checks the programs in the same way as the tools of a session. */
export async function checkToolPrograms(): Promise<ToolPrograms> {
  const [sandbox, ripgrep] = await Promise.all([tryHostSandbox(), findProgram('rg')]);
  const found = listManagers().filter(({ path }) => path !== undefined);
  return { ...sandbox, hasRipgrep: ripgrep !== undefined, packageManagers: found.map(({ manager }) => manager) };
}

async function tryHostSandbox(): Promise<Pick<ToolPrograms, 'sandboxProblem' | 'sandboxGaps'>> {
  try {
    const state = await openHostSandbox({ findProgram });
    if (state.type === 'ready') return { sandboxProblem: null, sandboxGaps: state.gaps };
    return { sandboxProblem: state.reason, sandboxGaps: [] };
  } catch (error) {
    return { sandboxProblem: error instanceof Error ? error.message : String(error), sandboxGaps: [] };
  }
}
