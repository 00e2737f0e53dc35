import { pickInherited, pickVariables, safeGit } from '../../launch/inherited-variables.ts';

/** What the environment of opencode depends on. */
export interface EnvironmentOptions {
  /** What the server has. Almost nothing of it reaches the program: keys of models, clouds and databases are in it. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Further variables that the operator lets through by name. */
  readonly passed: readonly string[];
  readonly isSandboxed: boolean;
  /** The directory that opencode keeps everything of a session in. */
  readonly home: string;
  readonly config: object;
  readonly password: string;
  /** Whether settings of the workspace are loaded. */
  readonly hasProjectSettings: boolean;
}

/** Everything that opencode finds in its environment, except what the gateway adds. */
export function toEnvironment(options: EnvironmentOptions): Record<string, string> {
  const { inherited, passed, isSandboxed, home, config, password, hasProjectSettings } = options;
  return {
    ...pickInherited(inherited, { isSandboxed }),
    HOME: home,
    XDG_DATA_HOME: `${home}/${DATA}`,
    XDG_CONFIG_HOME: `${home}/config`,
    XDG_STATE_HOME: `${home}/state`,
    XDG_CACHE_HOME: `${home}/cache`,
    // A sandbox has a temporary directory of its own. Elsewhere the program leaves files behind, which go with the session.
    ...(isSandboxed ? {} : { TMPDIR: `${home}/tmp` }),
    ...pickVariables(inherited, passed),
    ...quiet,
    ...safeGit,
    ...(hasProjectSettings ? {} : { OPENCODE_DISABLE_PROJECT_CONFIG: '1' }),
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_SERVER_PASSWORD: password,
  };
}

/** Where opencode keeps conversations, below its home. */
export const DATA = 'data';

/** Opencode neither updates itself nor fetches lists and language servers while it works for a session. */
const quiet = {
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  // With a user's own Claude Code settings the agent would not be what its definition says.
  OPENCODE_DISABLE_CLAUDE_CODE: '1',
};
