import type { Socket } from 'node:net';
import { httpLimits } from '../limits.ts';
import { requestError } from '../../base/request-error.ts';
import { Connection } from './connection.ts';
import { type ConnectionLimits, toAddressGroup } from './connection-limits.ts';
import { type Rank, RankedConnections } from './ranked-connections.ts';

/** One request on a connection, as far as the connection is concerned. */
export interface RequestSlot {
  /** Called when the key was found valid. Throws if that key, or all keys together, have too many requests in progress. */
  authenticated(keyId: string): void;
  /** Called when the response has ended. */
  end(): void;
}

/**
 * Ranks connections by what was received on them. At the limit, a new connection replaces the one with the lowest rank:
 * connections without a request first, then those without a key. A request with a key is never cut off to make room.
 */
export class Connections {
  #limits: ConnectionLimits;
  readonly #steady: () => number;
  readonly #isProxy: (address: string | undefined) => boolean;
  readonly #known = new Map<Socket, Connection>();
  readonly #all = new RankedConnections<Connection>();
  readonly #byAddress = new Map<string, RankedConnections<Connection>>();
  /** Requests in progress by key. */
  readonly #byKey = new Map<string, number>();
  #ofKeys = 0;

  /** A proxy has connections for many clients, so the limit per address does not apply to it. */
  constructor(
    limits: ConnectionLimits,
    steady: () => number,
    isProxy: (address: string | undefined) => boolean = () => false,
  ) {
    this.#isProxy = isProxy;
    this.#limits = limits;
    this.#steady = steady;
  }

  get count(): number {
    return this.#known.size;
  }

  /** Applies new limits, and closes connections above them. */
  setLimits(limits: ConnectionLimits): void {
    this.#limits = limits;
    this.shed(this.#all.size - limits.max);
  }

  /** Accepts a new connection, or closes it. */
  admit(socket: Socket): boolean {
    const { remoteAddress } = socket;
    const address = this.#isProxy(remoteAddress) ? undefined : toAddressGroup(remoteAddress);
    if (!this.#makeRoom(address)) {
      socket.destroy();
      return false;
    }
    const connection = new Connection(socket, address, this.#steady());
    this.#known.set(socket, connection);
    this.#all.add(connection);
    if (address !== undefined) this.#neighboursOf(address).add(connection);
    socket.once('close', () => this.#forget(connection));
    return true;
  }

  /** Replaces the socket of a connection, as after the TLS handshake. */
  replace(socket: Socket, by: Socket): void {
    const known = this.#known.get(socket);
    if (known !== undefined) this.#forget(known);
    this.admit(by);
  }

  /** Closes connections without any request. Node treats them as busy, and waits for them when it closes. */
  closeUnused(): void {
    // A request that has begun to arrive gets a response.
    for (const { socket } of this.#all.of('unused')) if (socket.bytesRead === 0) socket.destroy();
  }

  /** Closes connections of the lowest rank to free descriptors. */
  shed(count: number): void {
    for (let closed = 0; closed < count; closed++) if (!this.#closeLeast(this.#all)) return;
  }

  /**
   * Disconnects clients that stop reading their response. Called every few seconds; the socket timeout of Node does the
   * measuring. Event streams have their own limit.
   */
  watchStalled(stallMs: number): void {
    for (const rank of ['busy_stranger', 'busy'] as const) {
      for (const connection of this.#all.of(rank)) connection.watchStalled(stallMs);
    }
  }

  /** Starts a request as soon as those before it on the same connection are over. */
  begin(socket: Socket, start: (slot: RequestSlot) => void): void {
    const connection = this.#known.get(socket);
    // The connection was closed in this turn of the event loop.
    if (connection === undefined) return;
    connection.enqueue(() => {
      this.#rank(connection, connection.isProven ? 'busy' : 'busy_stranger');
      start(this.#openSlot(connection));
    });
  }

  #openSlot(connection: Connection): RequestSlot {
    let keyId: string | undefined;
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      if (keyId !== undefined) this.#release(keyId);
      connection.onClose = undefined;
      if (this.#known.has(connection.socket)) this.#rank(connection, connection.isProven ? 'idle' : 'idle_stranger');
      connection.next();
    };
    connection.onClose = end;
    return {
      end,
      authenticated: (id) => {
        if (isOver || keyId !== undefined) return;
        this.#acquire(id);
        keyId = id;
        connection.isProven = true;
        this.#rank(connection, 'busy');
      },
    };
  }

  #acquire(keyId: string): void {
    const count = this.#byKey.get(keyId) ?? 0;
    const { perKeyMax, keysMax } = this.#limits;
    if (count >= perKeyMax) throw requestError('too_many_requests', `this key has ${count} requests under way`);
    if (this.#ofKeys >= keysMax) {
      throw requestError('too_many_requests', `the server has ${this.#ofKeys} requests under way`);
    }
    this.#byKey.set(keyId, count + 1);
    this.#ofKeys += 1;
  }

  #release(keyId: string): void {
    const count = this.#byKey.get(keyId)! - 1;
    if (count === 0) this.#byKey.delete(keyId);
    else this.#byKey.set(keyId, count);
    this.#ofKeys -= 1;
  }

  #makeRoom(address: string | undefined): boolean {
    const neighbours = address === undefined ? undefined : this.#byAddress.get(address);
    // An address at its limit replaces its own connections.
    if (neighbours !== undefined && neighbours.size >= this.#limits.perAddressMax) return this.#closeLeast(neighbours);
    return this.#all.size < this.#limits.max || this.#closeLeast(this.#all);
  }

  /** Closes the connection of the lowest rank; false if none is old enough to be replaced. */
  #closeLeast(among: RankedConnections<Connection>): boolean {
    const least = among.findLeast(this.#steady() - httpLimits.connectionGraceMs);
    if (least === undefined) return false;
    this.#forget(least);
    least.socket.destroy();
    return true;
  }

  #rank(connection: Connection, rank: Rank): void {
    const { rank: before, address } = connection;
    if (rank === before) return;
    connection.rank = rank;
    connection.since = this.#steady();
    this.#all.move(connection, before);
    if (address !== undefined) this.#neighboursOf(address).move(connection, before);
  }

  #neighboursOf(address: string): RankedConnections<Connection> {
    let neighbours = this.#byAddress.get(address);
    if (neighbours === undefined) this.#byAddress.set(address, (neighbours = new RankedConnections()));
    return neighbours;
  }

  #forget(connection: Connection): void {
    if (!this.#known.delete(connection.socket)) return;
    this.#all.remove(connection);
    const { address } = connection;
    const neighbours = address === undefined ? undefined : this.#byAddress.get(address);
    neighbours?.remove(connection);
    if (neighbours?.size === 0) this.#byAddress.delete(address!);
    connection.close();
  }
}
