import { expect, it } from 'vitest';
import { ToolServer } from './tool-server.ts';

it('[J501] a call that no transcript has gets one error result, and a result that a client gave is not replaced', () => {
  const written: string[] = [];
  const server = new ToolServer([], (line) => void written.push(line));
  for (const callId of ['c1', 'c2']) server.take(request(callId));
  expect([server.isWaiting('c1'), server.isWaiting('c3')]).toEqual([true, false]);
  server.give('c2', { content: [{ type: 'text', text: 'filled' }], isError: false });
  for (const callId of ['c1', 'c1', 'c2', 'c3']) server.refuse(callId);
  expect(written.map((line) => /"request_id":"([^"]*)"/.exec(line)?.[1])).toEqual(['for c2', 'for c1']);
  expect(written[1]).toContain('was not found in the transcript');
  expect(written[1]).toContain('"isError":true');
  expect(server.isWaiting('c1')).toBe(false);
});

function request(callId: string) {
  const params = { name: 'form', _meta: { 'claudecode/toolUseId': callId } };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  return { type: 'control_request', request_id: `for ${callId}`, request: { subtype: 'mcp_message', message } };
}
