import type { FleetOAuthFlow, FleetOAuthFlowStarted } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { limits } from '../base/limits.ts';
import { writeText } from '../base/write-text.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { openInBrowser } from '../base/open-in-browser.ts';
import { openApi, toPath } from './open-api.ts';
import { readSecret } from './read-secret.ts';

/** Options of `vaults connect`. */
export interface ConnectOptions extends ConnectionOptions {
  name?: string;
  clientId?: string;
  clientSecret?: boolean;
  scope?: string;
  open?: boolean;
  json?: boolean;
}

/** `fleetloom vaults connect`: prints the URL at which the user consents, and waits until the flow has ended. */
export async function connectServer(io: Io, vault: string, url: string, options: ConnectOptions): Promise<number> {
  const { name, clientId, clientSecret, scope } = options;
  const body = {
    mcp_server_url: url,
    ...(name === undefined ? {} : { display_name: name }),
    ...(clientId === undefined ? {} : { client_id: clientId }),
    ...(clientSecret === true ? { client_secret: await readSecret(io, 'Client secret (not shown)') } : {}),
    ...(scope === undefined ? {} : { scope }),
  };
  const path = `${toPath(vault)}/oauth_flows`;
  // A longer time limit, because the server sends several requests to other servers before it responds.
  const patient = createServerApi(toConnection(io.env, options), limits.connectBeginMs, () => io.timers.now());
  const started = await patient.post<FleetOAuthFlowStarted>(path, body);
  const { id, authorization_url: address } = started;
  await writeText(io.stdout, `${options.json === true ? toJsonText(io.stdout, started) : address}\n`);
  io.stderr.write('Open this address in a browser and consent there. Waiting …\n');
  if (options.open !== false) openInBrowser(io, address);

  const flow = await waitForEnd(io, `${path}/${encodeURIComponent(id)}`, options);
  if (options.json === true) await writeText(io.stdout, `${toJsonText(io.stdout, flow)}\n`);
  if (flow.status === 'failed') {
    const problem = `${cleanLine(url)} was not connected: ${cleanLine(flow.error.message)}.`;
    throw new CommandError(exitCode.failed, problem, 'Run the command again to begin again.');
  }
  if (options.json !== true) await writeText(io.stdout, `${flow.credential_id}\n`);
  io.stderr.write(`${cleanLine(url)} is connected.\n`);
  return exitCode.ok;
}

type EndedFlow = Exclude<FleetOAuthFlow, { status: 'pending' }>;

/** Polls until the flow has ended. The server ends a flow that takes too long, so this wait is bounded. */
async function waitForEnd(io: Io, path: string, options: ConnectionOptions): Promise<EndedFlow> {
  const api = openApi(io, options);
  for (;;) {
    const flow = await api.get<FleetOAuthFlow>(path);
    if (flow.status !== 'pending') return flow;
    await new Promise<void>((resolve) => void io.timers.after(limits.connectPollMs, resolve));
  }
}
