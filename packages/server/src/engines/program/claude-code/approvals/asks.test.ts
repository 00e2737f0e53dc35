import type { PermissionRequest } from '@fleetloom/protocol/stream-json';
import { expect, it } from 'vitest';
import { Asks } from './asks.ts';

const ALLOW = { type: 'allow' } as const;

it('[J530] a second request for a call that waits, with another input or tool, is denied and changes nothing', () => {
  const { take, give, written } = open();
  expect(take('r1', { command: 'ls' })).toBe(true);
  expect(take('r2', { command: 'rm' })).toBe(false);
  expect(take('r3', { command: 'ls' }, 'Write')).toBe(false);
  give();
  expect(written()).toEqual([
    ['r2', 'deny', undefined],
    ['r3', 'deny', undefined],
    ['r1', 'allow', { command: 'ls' }],
  ]);
});

it('[J530] a request for a call that was decided is denied with another input, and gets the same decision with the same one', () => {
  const { take, give, forget, written } = open();
  take('r1', { command: 'ls' });
  give();
  expect(take('r2', { command: 'rm' })).toBe(false);
  expect(take('r3', { command: 'ls' })).toBe(false);
  expect(written()).toEqual([
    ['r1', 'allow', { command: 'ls' }],
    ['r2', 'deny', undefined],
    ['r3', 'allow', { command: 'ls' }],
  ]);
  forget();
  expect(take('r4', { command: 'rm' })).toBe(true);
});

it('[J530] a decision that came before the request is about the first request', () => {
  const { take, give, written } = open();
  give();
  expect(take('r1', { command: 'ls' })).toBe(false);
  expect(take('r2', { command: 'rm' })).toBe(false);
  expect(written()).toEqual([
    ['r1', 'allow', { command: 'ls' }],
    ['r2', 'deny', undefined],
  ]);
});

function open() {
  const lines: string[] = [];
  const asks = new Asks((line) => lines.push(line));
  return {
    take: (requestId: string, input: object, toolName = 'Bash') => {
      const request: PermissionRequest = {
        type: 'permission_request',
        requestId,
        toolUseId: 'call',
        toolName,
        input,
        request: {},
      };
      return asks.take(request, 'call', { kind: 'builtin', permission: 'ask' });
    },
    give: () => asks.give('call', ALLOW),
    forget: () => asks.forget('call'),
    written: () =>
      lines.map((line) => {
        const { response } = JSON.parse(line) as {
          response: { request_id: string; response: Record<string, unknown> };
        };
        return [response.request_id, response.response['behavior'], response.response['updatedInput']];
      }),
  };
}
