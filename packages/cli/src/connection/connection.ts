import type { Io } from '../base/io.ts';
import { UsageError } from '../base/usage-error.ts';
import { toDataDirectory } from './data-directory.ts';
import { recallServer } from './local-server.ts';

/** The options of every command that sends requests to a server. */
export interface ConnectionOptions {
  url?: string;
  key?: string;
}

/** The URL of a server and the API key for it. */
export interface Connection {
  /** The URL without a trailing slash. */
  readonly url: string;
  readonly key: string | undefined;
  /** Whether the command has started the server for itself. */
  readonly isTemporary?: boolean;
}

/**
 * The connection of the options, else of the environment, else to the server on this machine, whose URL and key are in its data directory
 * (SPEC Y1). That key is never sent to another URL.
 */
export function toConnection(env: Io['env'], options: ConnectionOptions): Connection {
  const local = recallServer(toDataDirectory(env));
  const url = checkUrl(options.url ?? given(env['FLEETLOOM_URL']) ?? local.url ?? DEFAULT_URL);
  const key = options.key ?? given(env['FLEETLOOM_KEY']);
  const isLocal = url === local.url || (local.url === null && url === DEFAULT_URL);
  return { url, key: key ?? (isLocal ? (local.key ?? undefined) : undefined) };
}

const DEFAULT_URL = 'http://127.0.0.1:4280';

/** An empty variable counts as not set. */
function given(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href.replace(/\/+$/, '');
  throw new UsageError(`"${text}" is not a server URL.`, `Pass one such as ${DEFAULT_URL}.`);
}
