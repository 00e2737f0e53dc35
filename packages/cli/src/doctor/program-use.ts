import { type ProgramOptions, toProgramNames } from '../commands/programs.ts';
import type { Finding } from './finding.ts';

export interface ProgramFacts {
  /** Null: there is a sandbox. */
  readonly sandboxProblem: string | null;
  /** The server would have to reach the endpoint through a proxy. */
  readonly hasProxy: boolean;
  /** Of the server that was last started on the data directory. */
  readonly lastWorkspaces: readonly string[];
}

/** Who may run the claude program here, where it runs, and what it is given. */
export function describeProgramUse(options: ProgramOptions, facts: ProgramFacts): readonly Finding[] {
  return [toWorkspaces(options, facts), toPlace(options, facts), ...toVariables(options)];
}

const NAME = 'Programs';

function toWorkspaces(options: ProgramOptions, { lastWorkspaces }: ProgramFacts): Finding {
  const named = toProgramNames(options);
  const last = lastWorkspaces.length === 0 ? '' : `; the last server here ran them for ${lastWorkspaces.join(', ')}`;
  if (named.length > 0)
    return { name: NAME, state: 'ok', text: `workspaces that may use claude-code/…: ${named.join(', ')}${last}` };
  return {
    name: NAME,
    state: 'note',
    text: `claude-code/… is refused by serve, and allowed by start for workspace default${last}`,
    fix: 'Name workspaces with --programs, or under "programs" in the configuration.',
  };
}

function toPlace({ unsandboxedPrograms }: ProgramOptions, { sandboxProblem, hasProxy }: ProgramFacts): Finding {
  if (unsandboxedPrograms === true) {
    const text = 'they run without a sandbox: they reach the files, processes and network that you reach';
    return { name: NAME, state: 'note', text, fix: 'Leave --unsandboxed-programs out where bubblewrap works.' };
  }
  const out = 'or run them without one (--unsandboxed-programs)';
  if (sandboxProblem !== null) {
    const text = `${sandboxProblem}: sessions on claude-code/… are refused`;
    return { name: NAME, state: 'note', text, fix: `On Linux install bubblewrap, ${out}.` };
  }
  if (hasProxy) {
    const text =
      'requests leave through a proxy, which the sandbox has no way to: sessions on claude-code/… are refused';
    return { name: NAME, state: 'note', text, fix: `Set NO_PROXY for the endpoint, ${out}.` };
  }
  return { name: NAME, state: 'ok', text: 'they run in the sandbox: workspace, own directory, model, allowed hosts' };
}

function toVariables({ programEnv = [] }: ProgramOptions): Finding[] {
  if (programEnv.length === 0) return [];
  const text = `they and all commands that they run find ${programEnv.join(', ')}`;
  return [{ name: NAME, state: 'note', text, fix: 'Leave out of --program-env what agents must not know.' }];
}
