import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { homeLayout } from './home-layout.ts';

/** The login that the operator has for the program: what of it a program in a sandbox is given. */
export interface OperatorLogin {
  /** Where it is kept, if it is used and there. */
  readonly file: string | null;
  readonly variables: Readonly<Record<string, string>>;
  /** Why there is none, if one is to be used. */
  readonly problem: string | null;
}

/** The operator's login as a program can use it, or why it cannot. */
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

/** What `claude setup-token` gives. */
const TOKEN = 'CLAUDE_CODE_OAUTH_TOKEN';

const LOG_IN = `log in with \`claude\`, or set ${TOKEN} to what \`claude setup-token\` gives`;
