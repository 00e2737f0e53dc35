import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Io } from '../io.ts';

/** Where a server keeps everything: what was given, else FLEETLOOM_DATA, else where programs of a user keep their data. */
export function toDataDirectory(env: Io['env'], given?: string): string {
  if (given !== undefined) return resolve(given);
  const { FLEETLOOM_DATA: own, XDG_DATA_HOME: shared } = env;
  if (own !== undefined && own !== '') return resolve(own);
  return join(shared !== undefined && shared !== '' ? shared : join(homedir(), '.local', 'share'), 'fleetloom');
}
