import type { IncomingMessage, ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { App } from './app.ts';
import { identify } from './auth/authenticate.ts';
import { doorError } from './door-error.ts';
import { type RouteServices, watchCredential } from './mount-route.ts';
import { type HeldBody, holdBody } from './request/held-bodies.ts';

/** Another API below a path of its own. Its clients need an API key of this server; the rest it does itself. */
export interface Mount {
  /** Of its requests, in logs and metrics. */
  readonly name: string;
  /** Begins with a slash and does not end with one. */
  readonly path: string;
  /** Counts the bytes of the body that it holds on `held`, until the answer is closed. */
  readonly handle: (incoming: IncomingMessage, outgoing: ServerResponse, held: HeldBody) => void;
}

export function mountOther(app: App, mount: Mount, services: RouteServices): void {
  app.on(METHODS, [mount.path, `${mount.path}/*`], async ({ env: { exchange } }) => {
    exchange.route = mount.name;
    let held: HeldBody;
    try {
      const { headers, method = '' } = exchange.incoming;
      const { credential, secret } = await identify(services.access, headers, method);
      exchange.authenticated(credential);
      services.countRequest(credential.id);
      if (credential.kind !== 'api') throw doorError('key_not_allowed', `${mount.name} is not for workers`);
      watchCredential(services, exchange, secret);
      held = holdBody(credential.id);
    } catch (error) {
      exchange.refuse(error, services.onMishap);
      return RESPONSE_ALREADY_SENT;
    }
    const { incoming, outgoing } = exchange;
    exchange.acceptBody();
    // The mount reads the body until the answer is closed. Not `once` of node:events: it rejects on `error`.
    const closed = new Promise<void>((resolve) => outgoing.once('close', resolve));
    try {
      mount.handle(incoming, outgoing, held);
      if (!outgoing.destroyed) await closed;
    } finally {
      held.release();
    }
    return RESPONSE_ALREADY_SENT;
  });
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
