import type { Io } from '../io.ts';
import { UsageError } from '../usage-error.ts';
import { toDataDirectory } from './data-directory.ts';
import { recallServer } from './local-server.ts';

/** The options that all commands share which talk to a server. */
export interface ConnectionOptions {
  url?: string;
  key?: string;
}

/** Where a server is, and what it is shown. */
export interface Connection {
  /** Without a slash at the end. */
  readonly url: string;
  readonly key: string | undefined;
}

/**
 * What was given, else what the environment says, else the server of this machine: where it listens and its key stand in
 * its data directory (SPEC Y1). Its key is shown to nobody else.
 */
export function toConnection(env: Io['env'], options: ConnectionOptions): Connection {
  const local = recallServer(toDataDirectory(env));
  const url = checkUrl(options.url ?? given(env['FLEETLOOM_URL']) ?? local.url ?? DEFAULT_URL);
  const key = options.key ?? given(env['FLEETLOOM_KEY']);
  const isLocal = url === local.url || (local.url === null && url === DEFAULT_URL);
  return { url, key: key ?? (isLocal ? (local.key ?? undefined) : undefined) };
}

const DEFAULT_URL = 'http://127.0.0.1:4280';

/** A variable that is set to nothing is not set. */
function given(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href.replace(/\/+$/, '');
  throw new UsageError(`"${text}" is no address of a server.`, `Give one such as ${DEFAULT_URL}.`);
}
