import type { IncomingMessage } from 'node:http';
import { limits } from '../base/limits.ts';
import { type Credential, mayReach, type Target } from './auth/credential.ts';
import { doorError } from './door-error.ts';
import type { Exchange } from './exchange.ts';
import type { ReplayMemory } from './replays.ts';
import type { RouteRequest } from './route.ts';
import type { EventStreams } from './sse/event-streams.ts';

/** A request that has passed all checks, as handlers get it. */
export class CheckedRequest implements RouteRequest {
  readonly credential: Credential;
  readonly params: Readonly<Record<string, string>>;
  readonly query: RouteRequest['query'];
  readonly body: unknown;
  readonly memory: ReplayMemory;
  readonly checkReach: (target: Target) => void;
  readonly openStream: RouteRequest['openStream'];
  readonly #exchange: Exchange;
  #signal: AbortSignal | undefined;

  constructor(
    exchange: Exchange,
    streams: EventStreams,
    checked: Pick<RouteRequest, 'credential' | 'query' | 'body' | 'memory'> & { params: Record<string, string> },
  ) {
    this.#exchange = exchange;
    this.credential = checked.credential;
    this.params = checked.params;
    this.query = checked.query;
    this.body = checked.body;
    this.memory = checked.memory;
    // Handlers take them out of the request, so they must not need it.
    this.checkReach = (target) => checkReach(checked.credential, target);
    this.openStream = (form) => (exchange.stream ??= streams.open(exchange.outgoing, checked.credential.id, form));
  }

  get id(): string {
    return this.#exchange.id;
  }

  get incoming(): IncomingMessage {
    return this.#exchange.incoming;
  }

  get headers(): IncomingMessage['headers'] {
    return this.#exchange.incoming.headers;
  }

  /** Made only for those who ask: most answers are there before anybody could go away. */
  get signal(): AbortSignal {
    return (this.#signal ??= toSignal(this.#exchange));
  }
}

export function checkReach(credential: Credential, target: Target): void {
  if (!mayReach(credential, target)) throw unknownId(target.sessionId ?? target.environmentId ?? '');
}

export function unknownId(id: string) {
  return doorError('unknown_id', `${id.slice(0, limits.pathIdCharsMax)} does not exist`);
}

function toSignal({ outgoing }: Exchange): AbortSignal {
  const gone = new AbortController();
  if (outgoing.destroyed) gone.abort();
  outgoing.on('close', () => gone.abort());
  return gone.signal;
}
