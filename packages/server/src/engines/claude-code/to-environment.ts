export interface EnvironmentOptions {
  /** What the server has. Almost nothing of it reaches the program: keys of models, clouds and databases are in it. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Further variables that the operator lets through by name. */
  readonly passed: readonly string[];
  readonly isSandboxed: boolean;
  readonly home: ProgramHome;
  readonly depthMax: number;
}

export type ProgramHome =
  /** A directory of its own. */
  | { readonly type: 'own'; readonly path: string }
  /** That of the operator, for the operator's login. */
  | { readonly type: 'operator' };

/** Everything that the program finds in its environment, except what the gateway adds. */
export function toEnvironment(options: EnvironmentOptions): Record<string, string> {
  const { inherited, passed, isSandboxed, home, depthMax } = options;
  const names = [...ALWAYS, ...(isSandboxed ? [] : UNSANDBOXED), ...(home.type === 'operator' ? OPERATOR_HOME : [])];
  return {
    ...pick(inherited, names),
    ...(isSandboxed ? {} : pickProxies(inherited)),
    ...(home.type === 'own' ? { HOME: home.path, CLAUDE_CONFIG_DIR: `${home.path}/.claude` } : {}),
    ...pick(inherited, passed),
    ...quiet,
    // Only newer releases know it; in older ones agents of agents can be made, and are shown.
    CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH: String(depthMax),
  };
}

/** What any program of this machine needs to run at all, for looking at one that is found. */
export function toPlainEnvironment(inherited: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return { ...pick(inherited, [...ALWAYS, ...UNSANDBOXED, 'HOME']), ...quiet };
}

/** What decides whether the gateway can be used: where the program sends its requests, and how this server reaches others. */
export function toGatewayVariables(
  inherited: Readonly<Record<string, string | undefined>>,
  passed: readonly string[],
): Record<string, string> {
  return pick(inherited, [...PROXIES, ...passed]);
}

const ALWAYS = [
  // How texts, times and numbers are written.
  'LANG',
  'LANGUAGE',
  'LC_ALL',
  'LC_COLLATE',
  'LC_CTYPE',
  'LC_MESSAGES',
  'LC_MONETARY',
  'LC_NUMERIC',
  'LC_TIME',
  'TZ',
  'TERM',
  // Which models the endpoint has; an endpoint of one's own knows others than the program does.
  'ANTHROPIC_MODEL',
  'ANTHROPIC_SMALL_FAST_MODEL',
  'ANTHROPIC_DEFAULT_HAIKU_MODEL',
  'ANTHROPIC_DEFAULT_OPUS_MODEL',
  'ANTHROPIC_DEFAULT_SONNET_MODEL',
  'CLAUDE_CODE_SUBAGENT_MODEL',
];

/** Where things are on this machine. A sandbox has a machine of its own, and says so itself. */
const UNSANDBOXED = [
  'PATH',
  'USER',
  'LOGNAME',
  'SHELL',
  'TMPDIR',
  'TMP',
  'TEMP',
  'SystemRoot',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

const OPERATOR_HOME = ['HOME', 'CLAUDE_CONFIG_DIR', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'XDG_CONFIG_HOME'];

const PROXIES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]);

/** Without a proxy nothing is reached where there is one. One with a password in it is a secret, which is passed by name only. */
function pickProxies(inherited: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(pick(inherited, PROXIES)).filter(([, value]) => !value.includes('@')));
}

function pick(
  inherited: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (inherited[name] === undefined ? [] : [[name, inherited[name]] as const])),
  );
}

/** It neither phones home nor renews itself while it works for us. */
const quiet = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  // The program runs git when it starts, and a file of the repository could name a command for it.
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'core.fsmonitor',
  GIT_CONFIG_VALUE_0: 'false',
  // It says when it rests for good.
  CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1',
  // A call of a custom tool waits for people, who may take days: as long as a timer can.
  MCP_TOOL_TIMEOUT: '2147483647',
};
