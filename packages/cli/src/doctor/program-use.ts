import { type ProgramOptions, toProgramNames } from '../server/programs.ts';
import type { Finding } from './finding.ts';

/** Facts about this machine that decide how programs run. */
export interface ProgramFacts {
  /** Why no sandbox is available; null if one is. */
  readonly sandboxProblem: string | null;
  /** The server reaches the endpoint through a proxy. */
  readonly hasProxy: boolean;
  /** Workspaces of the last server on the data directory. */
  readonly lastWorkspaces: readonly string[];
}

/** Findings about which workspaces may run programs, whether in a sandbox, and with which variables. */
export function describeProgramUse(options: ProgramOptions, facts: ProgramFacts): readonly Finding[] {
  return [toWorkspaces(options, facts), toSandbox(options, facts), ...toVariables(options)];
}

const NAME = 'Programs';

function toWorkspaces(options: ProgramOptions, { lastWorkspaces }: ProgramFacts): Finding {
  const named = toProgramNames(options);
  const last = lastWorkspaces.length === 0 ? '' : `; the last server here allowed ${lastWorkspaces.join(', ')}`;
  if (named.length > 0)
    return {
      name: NAME,
      state: 'ok',
      text: `workspaces that may use claude-code/…, codex/…, opencode/… and acp:…: ${named.join(', ')}${last}`,
    };
  return {
    name: NAME,
    state: 'note',
    text: `"start" allows programs for workspace default, "serve" for none${last}`,
    fix: 'Allow workspaces with --programs, or under "programs" in the configuration.',
  };
}

function toSandbox({ unsandboxedPrograms }: ProgramOptions, { sandboxProblem, hasProxy }: ProgramFacts): Finding {
  if (unsandboxedPrograms === true) {
    const text = 'programs run without a sandbox: they have access to your files, processes and network';
    return { name: NAME, state: 'note', text, fix: 'Omit --unsandboxed-programs where bubblewrap works.' };
  }
  const out = 'or run programs without a sandbox (--unsandboxed-programs)';
  if (sandboxProblem !== null) {
    const text = `${sandboxProblem}: sessions on programs are rejected`;
    return { name: NAME, state: 'note', text, fix: `On Linux install bubblewrap, ${out}.` };
  }
  if (hasProxy) {
    const text = 'the endpoint is behind a proxy that the sandbox cannot reach: sessions on claude-code/… are rejected';
    return { name: NAME, state: 'note', text, fix: `Set NO_PROXY for the endpoint, ${out}.` };
  }
  return {
    name: NAME,
    state: 'ok',
    text: 'programs run in the sandbox: workspace, own directory, model endpoint, allowed hosts',
  };
}

function toVariables({ programEnv = [] }: ProgramOptions): Finding[] {
  if (programEnv.length === 0) return [];
  const text = `programs and every command they run can read ${programEnv.join(', ')}`;
  return [{ name: NAME, state: 'note', text, fix: 'Remove secrets that agents must not read from --program-env.' }];
}
