import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildProgram } from '../../packages/cli/test-support/processes.ts';
import { isLong, timeout } from '../support/seed.ts';
import { attack } from './attack.ts';
import { floodProxy } from './flood-proxy.ts';
import { runSession } from './run-session.ts';

// Agents whose commands attack the way out of their sandbox.

const sockets = new Set<Socket>();
/** A host that answers without end, to whatever it is sent. */
const origin = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => socket.destroy());
  socket.once('close', () => sockets.delete(socket));
  socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(200_000)}`));
});
beforeAll(async () => {
  buildProgram();
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
});
afterAll(() => origin.close());

it(
  '[U605] commands that flood the egress proxy, send it garbage and leave before they are answered end with their session, and every connection with them',
  () =>
    attack({ args: ['--allow-private-host', '127.0.0.1'] }, async ({ attacker }) => {
      const { port } = origin.address() as AddressInfo;
      const agent = { tools: [{ type: 'agent_toolset_20260401' as const, default_config: allowed }] };
      const networking = { type: 'limited' as const, allowed_hosts: [`127.0.0.1:${port}`] };
      for (let round = 0; round < (isLong ? 20 : 1); round++) {
        const command = floodProxy(port, isLong ? 20_000 : 1_000);
        const { results } = await runSession(attacker, {
          agent,
          turns: [[{ call: 'bash', input: { command } }], [{ say: 'done' }]],
          config: { type: 'cloud', networking },
        });
        expect(results).toEqual([expect.stringMatching(/reached the host [1-9]\d* times/)]);
        await expect.poll(() => sockets.size).toBe(0);
      }
    }),
  isLong ? timeout : 120_000,
);

const allowed = { permission_policy: { type: 'always_allow' as const } };
