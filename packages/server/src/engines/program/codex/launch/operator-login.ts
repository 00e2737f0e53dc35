import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { homeLayout } from './home-layout.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The directory in which the operator's own Codex keeps everything. */
export function findOperatorHome({ CODEX_HOME: config, HOME: home = homedir() }: Environment): string {
  return config ?? join(home, homeLayout.config);
}

/** The file with the operator's login, or a problem if it does not exist. */
export function findOperatorLogin(environment: Environment): { file: string } | { problem: string } {
  const file = join(findOperatorHome(environment), homeLayout.login);
  return existsSync(file)
    ? { file }
    : { problem: `there is no login of Codex at ${file}: log in with \`codex login\`` };
}
