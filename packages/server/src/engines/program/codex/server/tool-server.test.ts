import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { programLimits } from '../../limits.ts';
import { serveMcp } from '../../gateway/serve-mcp.ts';
import { ToolServer } from './tool-server.ts';

const lookup = { type: 'custom', name: 'lookup', description: 'Looks up', input_schema: { type: 'object' } } as const;

it('[CX26] custom tools are an MCP server: a call waits for the result of its thread and id, also if that came first', async () => {
  const tools = new ToolServer([lookup, lookup]);
  const url = await serve(tools);
  const send = async (message: object) => {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
    const text = await response.text();
    return [response.status, text.replace(/^data: /, '').trim()] as const;
  };
  const [, initialized] = await send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18' } });
  expect(JSON.parse(initialized)).toMatchObject({ id: 1, result: { protocolVersion: '2025-06-18' } });
  expect(await send({ method: 'notifications/initialized' })).toEqual([202, '']);
  const [, listed] = await send({ id: 2, method: 'tools/list' });
  expect(JSON.parse(listed)).toMatchObject({ result: { tools: [{ name: 'lookup' }] } });
  const [, unknown] = await send({ id: 3, method: 'resources/list' });
  expect(JSON.parse(unknown)).toMatchObject({ id: 3, error: { code: -32_601 } });

  const call = (threadId: string, callId: string) =>
    send({ id: 9, method: 'tools/call', params: { name: 'lookup', _meta: { threadId, callId } } });
  const result = (text: string) => ({ content: [{ type: 'text' as const, text }], isError: false });
  const waiting = [call('a', 'same'), call('b', 'same')];
  await new Promise((resolve) => setTimeout(resolve, 50));
  tools.give({ threadId: 'b', itemId: 'same' }, result('for b'));
  tools.give({ threadId: 'a', itemId: 'same' }, result('for a'));
  tools.give({ threadId: 'c', itemId: 'early' }, result('for c'));
  waiting.push(call('c', 'early'));
  const texts = (await Promise.all(waiting)).map(([, text]) => (/for \w/.exec(text) ?? [''])[0]);
  expect(texts).toEqual(['for a', 'for b', 'for c']);
  const [, unnamed] = await send({ id: 4, method: 'tools/call', params: { name: 'lookup' } });
  expect(JSON.parse(unnamed)).toMatchObject({ result: { isError: true } });
});

it('[CX26] requests that are not a message of MCP are refused: another method, other JSON, a body over the limit', async () => {
  const url = await serve(new ToolServer([lookup]));
  const status = async (init: RequestInit) => (await fetch(url, init)).status;
  expect(await status({ method: 'GET' })).toBe(405);
  expect(await status({ method: 'POST', body: 'no' })).toBe(400);
  expect(await status({ method: 'POST', body: '[]' })).toBe(400);
  const body = Buffer.alloc(programLimits.gatewayRequestBytesMax + 1, ' ');
  expect(await status({ method: 'POST', body })).toBe(413);
});

async function serve(tools: ToolServer): Promise<string> {
  const server = createServer(
    serveMcp(
      (message, signal) => tools.handle(message, signal),
      () => {},
    ),
  ).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
