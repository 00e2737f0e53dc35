import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Io } from '../base/io.ts';

/** The data directory of a server: --data, else FLEETLOOM_DATA, else the XDG data directory of the user. */
export function toDataDirectory(env: Io['env'], given?: string): string {
  if (given !== undefined) return resolve(given);
  const { FLEETLOOM_DATA: own, XDG_DATA_HOME: shared } = env;
  if (own !== undefined && own !== '') return resolve(own);
  return join(shared !== undefined && shared !== '' ? shared : join(homedir(), '.local', 'share'), 'fleetloom');
}
