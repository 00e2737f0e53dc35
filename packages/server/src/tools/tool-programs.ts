import { findProgram } from './find-program.ts';
import { openBubblewrap } from './sandbox/bubblewrap.ts';

/** What tools need from this machine, and whether it is there. */
export interface ToolPrograms {
  /** Null: bash runs in a sandbox. Else why it cannot. */
  readonly sandboxProblem: string | null;
  /** Whether searches use ripgrep; without it they are slower, and find the same. */
  readonly hasRipgrep: boolean;
}

/** Tries what the tools of a session would try. */
export async function checkToolPrograms(): Promise<ToolPrograms> {
  const [sandbox, ripgrep] = await Promise.all([openBubblewrap({ findProgram }), findProgram('rg')]);
  return {
    sandboxProblem: sandbox.type === 'ready' ? null : sandbox.reason,
    hasRipgrep: ripgrep !== undefined,
  };
}
