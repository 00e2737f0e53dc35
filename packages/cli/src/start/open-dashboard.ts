import type { FleetRole } from '@fleetloom/protocol/fleet';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';
import { type Connection, type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { recallServer } from '../connection/local-server.ts';
import { createServerApi } from '../connection/server-api.ts';
import { openInBrowser } from '../base/open-in-browser.ts';

/** Options of `open`. */
export interface OpenOptions extends ConnectionOptions {
  role?: string;
  browser?: boolean;
  json?: boolean;
}

/** `fleetloom open`: prints a login link for the dashboard of a running server, and opens it. */
export async function openDashboard(io: Io, options: OpenOptions): Promise<number> {
  const role = toRole(options.role);
  const connection = toConnection(io.env, options);
  return await printLink(io, options, connection, await makeLink(connection, role));
}

/** A login link of the server that runs on a data directory; undefined if no server does. */
export async function findRunning(
  dataDirectory: string,
): Promise<{ readonly connection: Connection; readonly link: string } | undefined> {
  const { url, key } = recallServer(dataDirectory);
  if (url === null) return undefined;
  const connection = { url, key: key ?? undefined };
  try {
    return { connection, link: await makeLink(connection) };
  } catch {
    // The server is not running, or another server uses its port. The start that follows reports the problem.
    return undefined;
  }
}

/** Prints a login link, and opens it in the browser unless an option prevents that. */
export async function printLink(io: Io, options: OpenOptions, { url }: Connection, link: string): Promise<number> {
  if (options.json === true) await writeText(io.stdout, `${JSON.stringify({ url, dashboard: link })}\n`);
  else await writeText(io.stdout, `${link}\n`);
  if (options.browser !== false && options.json !== true) openInBrowser(io, link);
  return exitCode.ok;
}

const ROLES: readonly FleetRole[] = ['viewer', 'approver', 'operator', 'admin'];

function toRole(name: string | undefined): FleetRole | undefined {
  const role = ROLES.find((each) => each === name);
  if (name === undefined || role !== undefined) return role;
  throw new UsageError(`--role ${name} is not a role.`, `The roles are ${ROLES.join(', ')}.`);
}

async function makeLink(connection: Connection, role?: FleetRole): Promise<string> {
  const api = createServerApi(connection, limits.openCallMs);
  const { path } = await api.post<{ readonly path: string }>('/v1/login_links', role === undefined ? {} : { role });
  return `${connection.url}${path}`;
}
