import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { homeLayout } from './home-layout.ts';

/** The operator's login of the program, and the parts of it that a program in a sandbox receives. */
export interface OperatorLogin {
  /** The file of the login; null if the login is not used or has no file. */
  readonly file: string | null;
  readonly variables: Readonly<Record<string, string>>;
  /** Why no login was found although one is to be used; null otherwise. */
  readonly problem: string | null;
}

/** Finds the operator's login, or says why a program cannot use it. */
export function findOperatorLogin(
  environment: Readonly<Record<string, string | undefined>>,
  isUsed: boolean,
): OperatorLogin {
  if (!isUsed) return { file: null, variables: {}, problem: null };
  const { CLAUDE_CONFIG_DIR: config, HOME: home = homedir(), [TOKEN]: token } = environment;
  const path = join(config ?? join(home, homeLayout.config), homeLayout.login);
  const file = existsSync(path) ? path : null;
  const variables = token === undefined ? {} : { [TOKEN]: token };
  if (file !== null || token !== undefined) return { file, variables, problem: null };
  return { file, variables, problem: `there is no login of Claude Code at ${path}: ${LOG_IN}` };
}

/** The variable for the token that `claude setup-token` prints. */
const TOKEN = 'CLAUDE_CODE_OAUTH_TOKEN';

const LOG_IN = `log in with \`claude\`, or set ${TOKEN} to what \`claude setup-token\` gives`;
