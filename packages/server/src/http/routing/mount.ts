import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestError } from '../../base/request-error.ts';
import { identify } from '../auth/authenticate.ts';
import { checkScopes } from './route-scopes.ts';
import { type HeldBody, holdBody } from '../request/held-bodies.ts';
import type { Endpoint } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import { watchCredential } from './checked-request.ts';
import type { RouteServices } from './run-route.ts';

/** Another API below a path of its own. Its clients need an API key of this server; it handles everything else. */
export interface Mount {
  /** The name of its requests in logs and metrics. */
  readonly name: string;
  /** The path of the API, which begins with a slash and does not end with one. */
  readonly path: string;
  /** Handles a request, and counts the bytes of the body in memory on `held`, until the response is closed. */
  readonly handle: (incoming: IncomingMessage, outgoing: ServerResponse, held: HeldBody) => void;
}

/** The endpoints of a mounted API: every method at its path and below. */
export function mountEndpoints(mount: Mount, services: RouteServices): readonly Endpoint[] {
  const { name, path } = mount;
  const handle = (exchange: Exchange) => runMount(mount, services, exchange);
  return METHODS.map((method) => ({ method, path: `${path}/*`, name, handle }));
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

async function runMount(mount: Mount, services: RouteServices, exchange: Exchange): Promise<void> {
  const { incoming, outgoing } = exchange;
  const { credential, secret } = await identify(services.access, incoming.headers, incoming.method ?? '');
  exchange.authenticated(credential);
  services.countRequest(credential.id);
  if (credential.kind !== 'api') throw requestError('key_not_allowed', `${mount.name} is not for workers`);
  checkScopes(mount.name, credential);
  watchCredential(services.credentials, exchange, secret);
  const held = holdBody(credential.id);
  exchange.acceptBody();
  // The mount reads the body until the response is closed. Not `once` of node:events: it rejects on `error`.
  const closed = new Promise<void>((resolve) => outgoing.once('close', resolve));
  try {
    mount.handle(incoming, outgoing, held);
    if (!outgoing.destroyed) await closed;
  } finally {
    held.release();
  }
}
