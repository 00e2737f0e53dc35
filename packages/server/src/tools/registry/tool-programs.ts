import { findProgram } from '../find-program.ts';
import { openHostSandbox } from '../host/server/host-sandbox.ts';
import { listManagers } from '../packages/package-commands.ts';

/** What tools need from this machine, and whether it is there. */
export interface ToolPrograms {
  /** Null: tools run in a sandbox. Else why they cannot. */
  readonly sandboxProblem: string | null;
  /** Protections of the sandbox that this machine does not allow, each with what can be done about it. */
  readonly sandboxGaps: readonly { readonly text: string; readonly fix: string }[];
  /** Whether searches use ripgrep; without it they are slower, and find the same. */
  readonly hasRipgrep: boolean;
  /** The package managers that sandboxes have. */
  readonly packageManagers: readonly string[];
}

/** Tries what the tools of a session would try. */
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
