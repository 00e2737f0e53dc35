import { pickInherited, pickVariables, safeGit } from '../../launch/inherited-variables.ts';

/** The input of opencode's environment. */
export interface EnvironmentOptions {
  /** The environment of the server. Few variables of it reach the program: it has keys of models, clouds and databases. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Names of further variables that the operator passes on. */
  readonly passed: readonly string[];
  readonly isSandboxed: boolean;
  /** The directory of all files that opencode keeps for a session. */
  readonly home: string;
  readonly config: object;
  readonly password: string;
  /** Whether settings of the workspace are loaded. */
  readonly hasProjectSettings: boolean;
}

/** The environment of opencode, except the variables that the gateway adds. */
export function toEnvironment(options: EnvironmentOptions): Record<string, string> {
  const { inherited, passed, isSandboxed, home, config, password, hasProjectSettings } = options;
  return {
    ...pickInherited(inherited, { isSandboxed }),
    HOME: home,
    XDG_DATA_HOME: `${home}/${DATA}`,
    XDG_CONFIG_HOME: `${home}/config`,
    XDG_STATE_HOME: `${home}/state`,
    XDG_CACHE_HOME: `${home}/cache`,
    // A sandbox has a temporary directory of its own. Elsewhere the program leaves files behind, which are deleted with the session.
    ...(isSandboxed ? {} : { TMPDIR: `${home}/tmp` }),
    ...pickVariables(inherited, passed),
    ...quiet,
    ...safeGit,
    ...(hasProjectSettings ? {} : { OPENCODE_DISABLE_PROJECT_CONFIG: '1' }),
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_SERVER_PASSWORD: password,
  };
}

/** The directory of conversations, relative to opencode's home. */
export const DATA = 'data';

/** Disables updates of opencode, and downloads of model lists and language servers. */
const quiet = {
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  // A user's own Claude Code settings would change the agent of the definition.
  OPENCODE_DISABLE_CLAUDE_CODE: '1',
};
