import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { programLimits } from '../limits.ts';
import { shareOfDescriptors } from '../../../base/process/descriptors.ts';
import { serveScriptedModel } from '../../model/scripted/http.ts';
import { openGateway } from './gateway.ts';
import { nowhere } from './gateway.suite.ts';

it('[H109] the gateway survives failing accepts, and has at most an eighth of the descriptors for connections', async () => {
  const gateway = await openGateway();
  onTestFinished(() => gateway.close());
  const { baseURL } = await gateway.open({
    upstream: { type: 'handler', handle: () => {} },
    ...nowhere,
    onEvent: () => {},
  });
  const server = await failAccepts(new URL(baseURL).origin, 401);
  expect(server.maxConnections).toBe(
    shareOfDescriptors(1 / 8, { min: 8, max: programLimits.gatewayPortConnectionsMax }),
  );
});

it('[H109] the scripted endpoint survives failing accepts', async () => {
  const endpoint = await serveScriptedModel();
  onTestFinished(() => endpoint.close());
  await failAccepts(endpoint.url, 200);
});

it('[H109] a share of the descriptors is kept within its bounds', () => {
  expect(shareOfDescriptors(1e-9, { min: 8, max: 100 })).toBe(8);
  expect(shareOfDescriptors(1, { min: 1, max: 2 })).toBe(2);
});

/** Emits on the server at this address what Node emits when the kernel has no descriptor, and asks again. */
async function failAccepts(url: string, status: number): Promise<Server> {
  const servers: Server[] = [];
  const onStart = (message: unknown) => void servers.push((message as { server: Server }).server);
  subscribe('http.server.request.start', onStart);
  expect((await fetch(url)).status).toBe(status);
  unsubscribe('http.server.request.start', onStart);
  const failure = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' });
  for (let count = 0; count < 3; count++) servers[0]!.emit('error', failure);
  expect((await fetch(url)).status).toBe(status);
  return servers[0]!;
}
