import { pickInherited, pickVariables, safeGit } from '../../launch/inherited-variables.ts';
import type { ProgramHome } from '../../launch/program-homes.ts';
import { homeLayout } from './home-layout.ts';

/** What the environment of Codex depends on. */
export interface EnvironmentOptions {
  /** What the server has. Almost nothing of it reaches the program: keys of models, clouds and databases are in it. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Further variables that the operator lets through by name. */
  readonly passed: readonly string[];
  readonly isSandboxed: boolean;
  readonly home: ProgramHome;
}

/** Everything that Codex finds in its environment, except what the gateway adds. */
export function toEnvironment({ inherited, passed, isSandboxed, home }: EnvironmentOptions): Record<string, string> {
  return {
    ...pickInherited(inherited, { isSandboxed }),
    ...(home.type === 'operator' ? pickVariables(inherited, OPERATOR_HOME) : toOwnHome(home.path)),
    ...pickVariables(inherited, passed),
    ...safeGit,
  };
}

/** The sandbox of Codex does not work if its home is below the temporary directory, so the session has one of its own. */
function toOwnHome(path: string): Record<string, string> {
  return { HOME: path, CODEX_HOME: `${path}/${homeLayout.config}`, TMPDIR: `${path}/${TEMPORARY}` };
}

/** The temporary directory in the home of a session. It goes with the session. */
export const TEMPORARY = 'tmp';

const OPERATOR_HOME = ['HOME', 'CODEX_HOME', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'XDG_CONFIG_HOME'];
