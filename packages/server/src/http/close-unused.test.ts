import { connect } from 'node:net';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { withDoor } from './door.suite.ts';

it('[W16] closing does not wait for connections on which nothing was ever asked', () =>
  withDoor({}, async ({ door }) => {
    const socket = connect(door.port, '127.0.0.1');
    await once(socket, 'connect');
    const gone = once(socket, 'close');
    // No time passes here, so nothing but the door itself can close it.
    await door.close();
    await gone;
    expect(socket.destroyed).toBe(true);
  }));
