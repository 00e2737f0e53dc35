import { pickInherited, pickPlain, pickVariables, PROXIES, safeGit } from '../../launch/inherited-variables.ts';
import type { ProgramHome } from '../../launch/program-homes.ts';

/** What the environment of the program depends on. */
export interface EnvironmentOptions {
  /** What the server has. Almost nothing of it reaches the program: keys of models, clouds and databases are in it. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Further variables that the operator lets through by name. */
  readonly passed: readonly string[];
  readonly isSandboxed: boolean;
  readonly home: ProgramHome;
  readonly depthMax: number;
}

/** Everything that the program finds in its environment, except what the gateway adds. */
export function toEnvironment(options: EnvironmentOptions): Record<string, string> {
  const { inherited, passed, isSandboxed, home, depthMax } = options;
  const names = [...MODELS, ...(home.type === 'operator' ? OPERATOR_HOME : [])];
  return {
    ...pickInherited(inherited, { isSandboxed }),
    ...pickVariables(inherited, names),
    ...(home.type === 'own' ? { HOME: home.path, CLAUDE_CONFIG_DIR: `${home.path}/.claude` } : {}),
    // A sandbox has a temporary directory of its own. Elsewhere the program leaves files behind, which go with the session.
    ...(home.type === 'own' && !isSandboxed ? { CLAUDE_CODE_TMPDIR: `${home.path}/tmp` } : {}),
    ...pickVariables(inherited, passed),
    ...quiet,
    // Only newer releases know it; in older ones agents of agents can be made, and are shown.
    CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH: String(depthMax),
  };
}

/** What any program of this machine needs to run at all, for looking at one that is found. */
export function toPlainEnvironment(inherited: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return { ...pickPlain(inherited), ...pickVariables(inherited, MODELS), ...quiet };
}

/** What decides whether the gateway can be used: where the program sends its requests, and how this server reaches others. */
export function toGatewayVariables(
  inherited: Readonly<Record<string, string | undefined>>,
  passed: readonly string[],
): Record<string, string> {
  return pickVariables(inherited, [...PROXIES, ...passed]);
}

/** Which models the endpoint has; an endpoint of one's own knows others than the program does. */
const MODELS = [
  'ANTHROPIC_MODEL',
  'ANTHROPIC_SMALL_FAST_MODEL',
  'ANTHROPIC_DEFAULT_HAIKU_MODEL',
  'ANTHROPIC_DEFAULT_OPUS_MODEL',
  'ANTHROPIC_DEFAULT_SONNET_MODEL',
  'CLAUDE_CODE_SUBAGENT_MODEL',
];

const OPERATOR_HOME = ['HOME', 'CLAUDE_CONFIG_DIR', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'XDG_CONFIG_HOME'];

/** It neither phones home nor renews itself while it works for us. */
const quiet = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  ...safeGit,
  // Makes the program report when it is idle.
  CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1',
  // It keeps what files were before each message, so that they can be rewound.
  CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: '1',
  // A call of a custom tool waits for people, who may take days: as long as a timer can.
  MCP_TOOL_TIMEOUT: '2147483647',
};
