type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of the server that every program receives. None of them holds a secret. */
export function pickInherited(
  inherited: Environment,
  { isSandboxed }: { isSandboxed: boolean },
): Record<string, string> {
  if (isSandboxed) return pickVariables(inherited, LOCALE);
  return { ...pickVariables(inherited, [...LOCALE, ...MACHINE]), ...pickProxies(inherited) };
}

/** The variables that any program of this machine needs to print its version. */
export function pickPlain(inherited: Environment): Record<string, string> {
  return pickVariables(inherited, [...LOCALE, ...MACHINE, 'HOME']);
}

/** The variables with these names that are set. */
export function pickVariables(inherited: Environment, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (inherited[name] === undefined ? [] : [[name, inherited[name]] as const])),
  );
}

/** Variables of the format of texts, times and numbers. */
const LOCALE = [
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
];

/** Variables with paths and users of this machine. A sandbox sets its own. */
const MACHINE = [
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

/** The variables that name a proxy. */
export const PROXIES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [
  name,
  name.toLowerCase(),
]);

/** The proxies that a program may need to reach hosts. A proxy URL with a password is a secret, which is passed only if the operator names it. */
function pickProxies(inherited: Environment): Record<string, string> {
  const found = Object.entries(pickVariables(inherited, PROXIES));
  return Object.fromEntries(found.filter(([, value]) => !value.includes('@')));
}

/** For programs that run git when they start: git configuration in the repository could name a command to run. */
export const safeGit = {
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'core.fsmonitor',
  GIT_CONFIG_VALUE_0: 'false',
};
