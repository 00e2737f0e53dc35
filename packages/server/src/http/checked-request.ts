import type { IncomingMessage } from 'node:http';
import { cutText } from '@fleetloom/protocol/fleet';
import { limits } from '../base/limits.ts';
import { type Credential, mayReach, type Target } from './auth/credential.ts';
import { doorError } from './door-error.ts';
import type { Exchange } from './exchange.ts';
import type { ReplayMemory } from './replays.ts';
import type { RouteRequest } from './route.ts';
import type { EventStreams } from './sse/event-streams.ts';

interface StreamServices {
  readonly streams: EventStreams;
  readonly onMishap: (error: unknown, requestId: string) => void;
}

/** A request that has passed all checks, as handlers get it. */
export class CheckedRequest implements RouteRequest {
  readonly credential: Credential;
  readonly params: Readonly<Record<string, string>>;
  readonly query: RouteRequest['query'];
  readonly body: unknown;
  readonly memory: ReplayMemory;
  readonly checkReach: (target: Target) => void;
  readonly openStream: RouteRequest['openStream'];
  readonly fail: RouteRequest['fail'];
  readonly #exchange: Exchange;
  #signal: AbortSignal | undefined;

  constructor(exchange: Exchange, { streams, onMishap }: StreamServices, checked: Checked) {
    this.#exchange = exchange;
    this.credential = checked.credential;
    this.params = checked.params;
    this.query = checked.query;
    this.body = checked.body;
    this.memory = checked.memory;
    // Handlers take them out of the request, so they must not need it.
    this.checkReach = (target) => checkReach(checked.credential, target);
    this.fail = (error) => exchange.refuse(error, onMishap);
    this.openStream = (form) => {
      if (exchange.stream === undefined) checked.watch();
      return (exchange.stream ??= streams.open(exchange.outgoing, checked.credential.id, form));
    };
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

interface Checked extends Pick<RouteRequest, 'credential' | 'query' | 'body' | 'memory'> {
  readonly params: Record<string, string>;
  /** From now on the answer ends when the credential does. */
  readonly watch: () => void;
}

export function checkReach(credential: Credential, target: Target): void {
  if (!mayReach(credential, target)) throw unknownId(target.sessionId ?? target.environmentId ?? '');
}

export function unknownId(id: string) {
  return doorError('unknown_id', `${cutText(id, limits.pathIdCharsMax)} does not exist`);
}

function toSignal({ outgoing }: Exchange): AbortSignal {
  const gone = new AbortController();
  if (outgoing.destroyed) gone.abort();
  outgoing.on('close', () => gone.abort());
  return gone.signal;
}
