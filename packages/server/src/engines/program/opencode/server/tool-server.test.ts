import { expect, it } from 'vitest';
import { ToolServer } from './tool-server.ts';

const lookup = { type: 'custom', name: 'lookup', description: 'Looks up', input_schema: { type: 'object' } } as const;

it('[OC26] opencode lists the custom tools, and a call belongs to the announced call with its name and input, whichever comes first', async () => {
  const server = new ToolServer([lookup, lookup]);
  const listed = await server.handle({ id: 1, method: 'tools/list' }, signal());
  expect(listed).toMatchObject({ result: { tools: [{ name: 'lookup', inputSchema: { type: 'object' } }] } });
  server.announce('call_1', 'lookup', { word: 'deep' });
  const first = call(server, { word: 'deep' });
  const second = call(server, { word: 'high' });
  server.announce('call_2', 'lookup', { word: 'high' });
  server.give('call_2', { content: [{ type: 'text', text: 'far up' }], isError: false });
  server.give('call_1', { content: [{ type: 'text', text: 'far down' }], isError: true });
  expect(await first).toMatchObject({
    id: 2,
    result: { content: [{ type: 'text', text: 'far down' }], isError: true },
  });
  expect(await second).toMatchObject({ result: { content: [{ type: 'text', text: 'far up' }], isError: false } });
});

it('[OC26] a result that came before the call answers it, and a call that opencode gives up is over', async () => {
  const server = new ToolServer([lookup]);
  server.announce('call_1', 'lookup', {});
  server.give('call_1', { content: [{ type: 'text', text: 'early' }], isError: false });
  expect(await call(server, {})).toMatchObject({ result: { content: [{ text: 'early' }] } });
  const stop = new AbortController();
  const waiting = call(server, { word: 'x' }, stop.signal);
  stop.abort();
  expect(await waiting).toMatchObject({ result: { isError: true } });
  expect(await server.handle({ id: 3, method: 'resources/list' }, signal())).toMatchObject({
    error: { code: -32_601 },
  });
  expect(await server.handle({ method: 'notifications/initialized' }, signal())).toBeUndefined();
});

function call(server: ToolServer, input: object, stop = signal()) {
  return server.handle({ id: 2, method: 'tools/call', params: { name: 'lookup', arguments: { ...input } } }, stop);
}

function signal(): AbortSignal {
  return new AbortController().signal;
}
