import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import type { Io } from '../base/io.ts';
import { isObject } from '../base/is-object.ts';
import { UsageError } from '../base/usage-error.ts';

/** Default option values from the configuration file, for all commands or for one. */
export interface Config {
  readonly file: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Reads the file named by FLEETLOOM_CONFIG, else the one in the configuration directory. Only a named file must exist. */
export function readConfig(env: Io['env']): Config | undefined {
  const named = env['FLEETLOOM_CONFIG'];
  const isNamed = named !== undefined && named !== '';
  const file = isNamed ? resolve(named) : defaultPaths(env).find((path) => existsSync(path));
  if (file === undefined) return undefined;
  const values = parseValues(file);
  if (isObject(values)) return { file, values };
  throw new UsageError(
    `The configuration "${file}" is not a list of options.`,
    'Write one option per line, such as "port: 4300".',
  );
}

function defaultPaths(env: Io['env']): readonly string[] {
  const { XDG_CONFIG_HOME: shared } = env;
  const directory = join(shared !== undefined && shared !== '' ? shared : join(homedir(), '.config'), 'fleetloom');
  return ['config.yaml', 'config.yml', 'config.json'].map((name) => join(directory, name));
}

/** Parses YAML, which includes JSON. */
function parseValues(file: string): unknown {
  try {
    return parse(readFileSync(file, 'utf8')) ?? {};
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    throw new UsageError(
      `The configuration "${file}" cannot be read: ${reason}`,
      'Fix it, or select another file with FLEETLOOM_CONFIG.',
    );
  }
}
