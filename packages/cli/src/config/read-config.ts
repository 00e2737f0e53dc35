import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import type { Io } from '../io.ts';
import { UsageError } from '../usage-error.ts';

/** What a user wants always: values of options, for all commands that have them or for one. */
export interface Config {
  readonly file: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** FLEETLOOM_CONFIG names the file; else the usual place is looked at. None is no mistake, but one that was named is. */
export function readConfig(env: Io['env']): Config | undefined {
  const named = env['FLEETLOOM_CONFIG'];
  const isNamed = named !== undefined && named !== '';
  const file = isNamed ? resolve(named) : usualPlaces(env).find((path) => existsSync(path));
  if (file === undefined) return undefined;
  const values = parseValues(file);
  if (typeof values === 'object' && values !== null && !Array.isArray(values)) {
    return { file, values: { ...values } };
  }
  throw new UsageError(`"${file}" does not hold options.`, 'Write one in each line, such as "port: 4300".');
}

function usualPlaces(env: Io['env']): readonly string[] {
  const { XDG_CONFIG_HOME: shared } = env;
  const directory = join(shared !== undefined && shared !== '' ? shared : join(homedir(), '.config'), 'fleetloom');
  return ['config.yaml', 'config.yml', 'config.json'].map((name) => join(directory, name));
}

/** JSON is YAML too. */
function parseValues(file: string): unknown {
  try {
    return parse(readFileSync(file, 'utf8')) ?? {};
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    throw new UsageError(
      `The configuration "${file}" cannot be read: ${reason}`,
      'Mend it, or name another with FLEETLOOM_CONFIG.',
    );
  }
}
