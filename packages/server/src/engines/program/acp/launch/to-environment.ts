import { pickInherited, pickVariables, safeGit } from '../../launch/inherited-variables.ts';

/** The input of an ACP agent's environment. */
export interface EnvironmentOptions {
  /** The environment of the server. Few variables of it reach the agent: it has keys of models, clouds and databases. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Names of further variables that the operator passes on. */
  readonly passed: readonly string[];
  readonly isSandboxed: boolean;
  /** The home directory of the agent for a session; null: the operator's home. */
  readonly home: string | null;
}

/** The environment of an ACP agent, except the variables that the gateway adds. */
export function toEnvironment({ inherited, passed, isSandboxed, home }: EnvironmentOptions): Record<string, string> {
  return {
    ...pickInherited(inherited, { isSandboxed }),
    ...(home === null ? pickVariables(inherited, OPERATOR_HOME) : toOwnHome(home, isSandboxed)),
    ...pickVariables(inherited, passed),
    ...safeGit,
  };
}

function toOwnHome(home: string, isSandboxed: boolean): Record<string, string> {
  const folders = Object.entries(FOLDERS).map(([name, folder]) => [name, `${home}/${folder}`] as const);
  // A sandbox has a temporary directory of its own. Elsewhere the agent leaves files behind, which are deleted with the session.
  const temporary: Record<string, string> = isSandboxed ? {} : { TMPDIR: `${home}/${TEMPORARY}` };
  return { HOME: home, ...Object.fromEntries(folders), ...temporary };
}

/** The temporary directory in the home of a session. */
export const TEMPORARY = 'tmp';

const FOLDERS = {
  XDG_CONFIG_HOME: '.config',
  XDG_DATA_HOME: '.local/share',
  XDG_STATE_HOME: '.local/state',
  XDG_CACHE_HOME: '.cache',
};

const OPERATOR_HOME = ['HOME', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', ...Object.keys(FOLDERS)];
