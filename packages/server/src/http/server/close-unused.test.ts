import { connect } from 'node:net';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { withHttpServer } from './http-server.suite.ts';

it('[W16] closing does not wait for connections without a request', () =>
  withHttpServer({}, async ({ server }) => {
    const socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    const gone = once(socket, 'close');
    // No time passes in this test, so no timeout can close the connection.
    await server.close();
    await gone;
    expect(socket.destroyed).toBe(true);
  }));
