import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { httpLimits } from '../limits.ts';
import { toConnectionLimits } from './connection-limits.ts';
import { Connections, type RequestSlot } from './connections.ts';

/** Connections of addresses that this machine does not have, with a manual clock. */
function open(max: number, perAddressMax?: number) {
  let now = 0;
  const connections = new Connections(toConnectionLimits({ max, perAddressMax }, 1_000), () => now);
  const sockets: Socket[] = [];
  return {
    connections,
    sockets,
    pass: async (ms: number = httpLimits.connectionGraceMs) => {
      now += ms;
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    },
    admit: (address = '127.0.0.1') => {
      const socket = new Socket();
      Object.defineProperty(socket, 'remoteAddress', { value: address });
      sockets.push(socket);
      return connections.admit(socket);
    },
    ask: (socket: Socket, keyId?: string): RequestSlot => {
      let opened: RequestSlot | undefined;
      connections.begin(socket, (slot) => (opened = slot));
      if (keyId !== undefined) opened!.authenticated(keyId);
      return opened!;
    },
    closed: () => sockets.map((socket) => socket.destroyed),
  };
}

describe('replacing connections', () => {
  it('[H91] the oldest connection without a request is replaced once it is 5 ms old', async () => {
    const { admit, pass, closed, connections } = open(2);
    expect([admit(), admit(), admit()]).toEqual([true, true, false]);
    await pass(httpLimits.connectionGraceMs - 1);
    expect(admit()).toBe(false);
    await pass(1);
    expect(admit()).toBe(true);
    expect(closed()).toEqual([true, false, true, true, false]);
    expect(connections.count).toBe(2);
  });

  it('[H91] strangers are replaced before connections with a key, idle before busy, and a request with a key never', async () => {
    const { admit, pass, ask, sockets, closed, connections } = open(5);
    connections.setLimits({ max: 5, perAddressMax: 5, perKeyMax: 5, keysMax: 5 });
    for (let count = 0; count < 5; count++) admit();
    const [keyBusy, keyIdle, strangerBusy, strangerIdle, unused] = sockets as [Socket, Socket, Socket, Socket, Socket];
    ask(keyBusy, 'key_1');
    ask(keyIdle, 'key_1').end();
    ask(strangerBusy);
    ask(strangerIdle).end();
    const order: Socket[] = [];
    for (const next of [unused, strangerIdle, strangerBusy, keyIdle]) {
      await pass();
      expect(next.destroyed).toBe(false);
      expect(admit()).toBe(true);
      order.push(next);
      expect(next.destroyed).toBe(true);
      // The new one stays busy, so that it is not replaced next.
      ask(sockets.at(-1)!, `key_${sockets.length}`);
    }
    await pass();
    expect(admit()).toBe(false);
    expect(closed().filter((isClosed) => isClosed)).toHaveLength(order.length + 1);
    expect(keyBusy.destroyed).toBe(false);
  });

  it('[H92] an address at its limit replaces its own connections, and loopback has no such limit', async () => {
    const { admit, pass, sockets } = open(6, 2);
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.2']) admit(address);
    await pass();
    expect(admit('192.0.2.2')).toBe(true);
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, true, false, false]);
    expect(admit('2001:db8::1') && admit('2001:db8::2')).toBe(true);
    expect(admit('2001:db8::3')).toBe(false);
    const local = open(6, 2);
    for (let count = 0; count < 6; count++) expect(local.admit('127.0.0.1')).toBe(true);
    expect(local.admit('127.0.0.1')).toBe(false);
  });

  it('[H90] when the descriptor limit drops, connections of the lowest rank are closed', async () => {
    const { admit, pass, connections } = open(6);
    for (let count = 0; count < 6; count++) admit();
    await pass();
    connections.setLimits(toConnectionLimits({ max: 2 }, 1_000));
    expect(connections.count).toBe(2);
  });
});

describe('shares of keys', () => {
  it('[H93] a key has half of the requests under way, all keys together seven eighths, and an ended request frees its slot', () => {
    const { admit, ask, sockets } = open(16);
    for (let count = 0; count < 16; count++) admit();
    const slots = sockets.slice(0, 8).map((socket) => ask(socket, 'key_1'));
    expect(() => ask(sockets[8]!, 'key_1')).toThrow('this key has 8 requests under way');
    for (const socket of sockets.slice(9, 15)) ask(socket, 'key_2');
    expect(() => ask(sockets[15]!, 'key_3')).toThrow('the server has 14 requests under way');
    slots[0]!.end();
    slots[0]!.end();
    expect(() => ask(sockets[0]!, 'key_3')).not.toThrow();
  });

  it('[H93] a closed connection frees the slot of its request', () => {
    const { admit, ask, sockets } = open(2);
    admit();
    admit();
    ask(sockets[0]!, 'key_1');
    expect(() => ask(sockets[1]!, 'key_1')).toThrow('this key has 1 requests under way');
    sockets[0]!.emit('close');
    admit();
    expect(() => ask(sockets[2]!, 'key_1')).not.toThrow();
  });
});

describe('pipelining', () => {
  it('[H97] pipelined requests are handled one after the other, and at most 16 are read ahead', () => {
    const { admit, sockets, connections } = open(2);
    admit();
    const [socket] = sockets;
    const slots: RequestSlot[] = [];
    for (let count = 0; count < httpLimits.pipelinedRequestsMax; count++)
      connections.begin(socket!, (slot) => slots.push(slot));
    expect([slots.length, socket!.isPaused()]).toEqual([1, false]);
    connections.begin(socket!, (slot) => slots.push(slot));
    expect(socket!.isPaused()).toBe(true);
    for (let index = 0; index < httpLimits.pipelinedRequestsMax; index++) slots[index]!.end();
    expect([slots.length, socket!.isPaused()]).toEqual([httpLimits.pipelinedRequestsMax + 1, false]);
  });

  it('[H97] pipelined requests that wait are dropped when their connection closes', () => {
    const { admit, sockets, connections } = open(2);
    admit();
    let started = 0;
    for (let count = 0; count < 3; count++) connections.begin(sockets[0]!, () => started++);
    sockets[0]!.emit('close');
    connections.begin(sockets[0]!, () => started++);
    expect(started).toBe(1);
  });
});
