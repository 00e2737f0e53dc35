import { pickInherited, pickVariables, safeGit } from '../../launch/inherited-variables.ts';
import type { ProgramHome } from '../../launch/program-homes.ts';
import { homeLayout } from './home-layout.ts';

/** The input of Codex's environment. */
export interface EnvironmentOptions {
  /** The environment of the server. Few variables of it reach the program: it has keys of models, clouds and databases. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Names of further variables that the operator passes on. */
  readonly passed: readonly string[];
  readonly isSandboxed: boolean;
  readonly home: ProgramHome;
}

/** The environment of Codex, except the variables that the gateway adds. */
export function toEnvironment({ inherited, passed, isSandboxed, home }: EnvironmentOptions): Record<string, string> {
  return {
    ...pickInherited(inherited, { isSandboxed }),
    ...(home.type === 'operator' ? pickVariables(inherited, OPERATOR_HOME) : toOwnHome(home.path)),
    ...pickVariables(inherited, passed),
    ...safeGit,
  };
}

/** The sandbox of Codex does not work if its home is below the temporary directory, so each session has its own temporary directory. */
function toOwnHome(path: string): Record<string, string> {
  return { HOME: path, CODEX_HOME: `${path}/${homeLayout.config}`, TMPDIR: `${path}/${TEMPORARY}` };
}

/** The temporary directory in the home of a session. It is deleted with the session. */
export const TEMPORARY = 'tmp';

const OPERATOR_HOME = ['HOME', 'CODEX_HOME', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'XDG_CONFIG_HOME'];
