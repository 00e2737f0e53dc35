import { pickInherited, pickVariables, safeGit } from '../../launch/inherited-variables.ts';

/** What the environment of an ACP agent depends on. */
export interface EnvironmentOptions {
  /** What the server has. Almost nothing of it reaches the agent: keys of models, clouds and databases are in it. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Further variables that the operator lets through by name. */
  readonly passed: readonly string[];
  readonly isSandboxed: boolean;
  /** The directory that the agent keeps everything of a session in; null: that of the operator. */
  readonly home: string | null;
}

/** Everything that an ACP agent finds in its environment, except what the gateway adds. */
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
  // A sandbox has a temporary directory of its own. Elsewhere the agent leaves files behind, which go with the session.
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
