import { readFileSync } from 'node:fs';
import type { Io } from '../base/io.ts';
import { UsageError } from '../base/usage-error.ts';

/** Environment variables that contain a secret. The same name with `_FILE` names a file that contains the secret instead. */
export const SECRET_VARIABLES = [
  'FLEETLOOM_DATABASE',
  'FLEETLOOM_DATABASE_LISTEN',
  'FLEETLOOM_SECRET',
  'FLEETLOOM_MASTER_KEY',
  'FLEETLOOM_MASTER_KEY_OLD',
  'FLEETLOOM_KEY',
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
] as const;

/**
 * The environment variables with the secrets read from files. Containers and service managers pass secrets in files, because other users
 * and programs can read the variables of a process.
 */
export function readSecretFiles(env: Io['env']): Io['env'] {
  const read = SECRET_VARIABLES.flatMap((name) => {
    const path = env[`${name}_FILE`];
    return path === undefined || path === '' ? [] : [[name, readSecret(env, name, path)]];
  });
  return read.length === 0 ? env : { ...env, ...Object.fromEntries(read) };
}

function readSecret(env: Io['env'], name: string, path: string): string {
  if ((env[name] ?? '') !== '') {
    throw new UsageError(`${name} and ${name}_FILE are both set.`, 'Set one of them.');
  }
  const secret = read(name, path).trim();
  if (secret === '') throw new UsageError(`The file "${path}" of ${name}_FILE is empty.`, 'Write the secret to it.');
  return secret;
}

function read(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `The file "${path}" of ${name}_FILE cannot be read: ${reason}`,
      'Check the path, and that this user may read the file.',
    );
  }
}
