import { pickInherited, pickPlain, pickVariables, PROXIES, safeGit } from '../../launch/inherited-variables.ts';
import type { ProgramHome } from '../../launch/program-homes.ts';

/** The input of the program's environment. */
export interface EnvironmentOptions {
  /** The environment of the server. Few variables of it reach the program: it has keys of models, clouds and databases. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Names of further variables that the operator passes on. */
  readonly passed: readonly string[];
  readonly isSandboxed: boolean;
  readonly home: ProgramHome;
  readonly depthMax: number;
}

/** The environment of the program, except the variables that the gateway adds. */
export function toEnvironment(options: EnvironmentOptions): Record<string, string> {
  const { inherited, passed, isSandboxed, home, depthMax } = options;
  const names = [...MODELS, ...(home.type === 'operator' ? OPERATOR_HOME : [])];
  return {
    ...pickInherited(inherited, { isSandboxed }),
    ...pickVariables(inherited, names),
    ...(home.type === 'own' ? { HOME: home.path, CLAUDE_CONFIG_DIR: `${home.path}/.claude` } : {}),
    // A sandbox has a temporary directory of its own. Elsewhere the program leaves files behind, which are deleted with the session.
    ...(home.type === 'own' && !isSandboxed ? { CLAUDE_CODE_TMPDIR: `${home.path}/tmp` } : {}),
    ...pickVariables(inherited, passed),
    ...quiet,
    // Only newer releases know this variable; in older ones agents can still start agents, and those are shown.
    CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH: String(depthMax),
  };
}

/** The environment for inspecting an installed program: only the variables that it needs to run. */
export function toPlainEnvironment(inherited: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return { ...pickPlain(inherited), ...pickVariables(inherited, MODELS), ...quiet };
}

/** The variables that decide whether the gateway can be used: the program's endpoint, and the proxies of this server. */
export function toGatewayVariables(
  inherited: Readonly<Record<string, string | undefined>>,
  passed: readonly string[],
): Record<string, string> {
  return pickVariables(inherited, [...PROXIES, ...passed]);
}

/** Variables that name the models of the endpoint, which may differ from the models that the program knows. */
const MODELS = [
  'ANTHROPIC_MODEL',
  'ANTHROPIC_SMALL_FAST_MODEL',
  'ANTHROPIC_DEFAULT_HAIKU_MODEL',
  'ANTHROPIC_DEFAULT_OPUS_MODEL',
  'ANTHROPIC_DEFAULT_SONNET_MODEL',
  'CLAUDE_CODE_SUBAGENT_MODEL',
];

const OPERATOR_HOME = ['HOME', 'CLAUDE_CONFIG_DIR', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'XDG_CONFIG_HOME'];

/** Disables telemetry and updates of the program, and sets it up for this server. */
const quiet = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  ...safeGit,
  // Makes the program report when it is idle.
  CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1',
  // The program keeps the state of files before each message, so that they can be rewound.
  CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: '1',
  // A custom tool call may wait for a person for days: this is the longest time of a timer.
  MCP_TOOL_TIMEOUT: '2147483647',
};
