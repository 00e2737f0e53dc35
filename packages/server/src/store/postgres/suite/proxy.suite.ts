import { createServer, connect as connectTo, type AddressInfo, type Socket } from 'node:net';

/** A proxy before the database that can break connections at a chosen moment. */
export interface Proxy {
  readonly url: string;
  /** Number of actions on connections. */
  readonly cuts: number;
  /** Once: a request with this text reaches the database; its response with that text is dropped and the connection is cut. */
  loseAnswer(request: string, answer: string): void;
  /**
   * Once: a request with this text is held back, and its sender is disconnected. Returns the function that delivers it, which
   * resolves when the database has answered.
   */
  delay(request: string): () => Promise<void>;
  /** Existing connections stay; new ones are refused until the proxy is opened again. */
  shut(): void;
  open(): void;
  /** Existing connections receive nothing from now on, and no error. */
  freeze(): void;
  /** Cuts all. */
  cut(): void;
  close(): void;
}

/** With `dropsNotifications`, LISTEN has no effect for its sender, as behind PgBouncer in transaction mode. */
export async function openProxy(target: string, { dropsNotifications = false } = {}): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const pairs = new Set<{ client: Socket; server: Socket; isFrozen: boolean }>();
  let lose: { request: string; answer: string } | undefined;
  let delayed: { request: string; arrive: () => Promise<void> } | undefined;
  let cuts = 0;
  let isShut = false;

  const listening = createServer((client) => {
    if (isShut) return void client.destroy();
    const server = connectTo({ host: hostname, port: Number(port) });
    const pair = { client, server, isFrozen: false };
    pairs.add(pair);
    let awaited: string | undefined;
    let isHeld = false;
    const end = () => {
      pairs.delete(pair);
      client.destroy();
      if (!isHeld) server.destroy();
    };
    for (const socket of [client, server]) socket.on('error', end).on('close', end).setNoDelay(true);
    client.on('data', (bytes: Buffer) => {
      if (pair.isFrozen) return;
      if (delayed !== undefined && bytes.includes(delayed.request)) {
        isHeld = true;
        cuts++;
        delayed.arrive = () =>
          new Promise((resolve) => {
            server.removeAllListeners('data').once('data', () => resolve());
            server.write(bytes);
          });
        delayed = undefined;
        client.destroy();
        return;
      }
      if (lose !== undefined && bytes.includes(lose.request)) {
        awaited = lose.answer;
        lose = undefined;
      }
      server.write(bytes);
    });
    const filter = dropsNotifications ? createNotificationFilter() : (bytes: Buffer) => bytes;
    server.on('data', (received: Buffer) => {
      const bytes = filter(received);
      if (pair.isFrozen) return;
      if (awaited === undefined) return void client.write(bytes);
      if (!bytes.includes(awaited)) return;
      cuts++;
      end();
    });
  });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.port = String((listening.address() as AddressInfo).port);

  return {
    url: url.href,
    get cuts() {
      return cuts;
    },
    loseAnswer: (request, answer) => {
      lose = { request, answer };
    },
    delay: (request) => {
      const hold = { request, arrive: () => Promise.reject(new Error('it was not sent')) };
      delayed = hold;
      return () => hold.arrive();
    },
    shut: () => {
      isShut = true;
    },
    open: () => {
      isShut = false;
    },
    freeze: () => {
      for (const pair of pairs) pair.isFrozen = true;
    },
    cut,
    close: () => {
      cut();
      listening.close();
    },
  };

  function cut(): void {
    for (const { client, server } of pairs) {
      client.destroy();
      server.destroy();
    }
  }
}

/** Removes the messages of the type `A` (NotificationResponse). A message is its type, its length with these four bytes, and a body. */
function createNotificationFilter(): (bytes: Buffer) => Buffer {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    const kept: Buffer[] = [];
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const size = 1 + rest.readInt32BE(1);
      if (rest[0] !== 'A'.charCodeAt(0)) kept.push(rest.subarray(0, size));
      rest = rest.subarray(size);
    }
    return Buffer.concat(kept);
  };
}
