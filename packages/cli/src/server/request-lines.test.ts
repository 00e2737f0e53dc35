import type { RequestLogEntry } from '@fleetloom/server';
import { expect, it } from 'vitest';
import type { LogForm } from './log-forms.ts';
import { createRequestLines } from './request-lines.ts';

const entry: RequestLogEntry = {
  requestId: 'req_1',
  method: 'GET',
  path: '/v1/agents\u001b[31m',
  route: undefined,
  status: 404,
  durationMs: 1.23456,
  isStream: false,
  isComplete: true,
  workspaceId: 'wrkspc_1',
  credentialId: 'key_1',
  errorCode: 'unknown_path',
};

it('[W24] --log json writes one JSON object per request, with the same fields each time', () => {
  const { log, lines } = open('json');
  log.onRequest!(entry);
  log.onError(new Error('boom'), 'req_2');
  log.onError(new Error('in the background'), '');
  expect(lines.every((line) => line.endsWith('\n') && line.indexOf('\n') === line.length - 1)).toBe(true);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      time: '2026-01-01T00:00:00.000Z',
      level: 'info',
      message: 'request',
      request_id: 'req_1',
      method: 'GET',
      path: '/v1/agents\u001b[31m',
      route: null,
      status: 404,
      duration_ms: 1.235,
      stream: false,
      complete: true,
      workspace_id: 'wrkspc_1',
      key_id: 'key_1',
      error: 'unknown_path',
    },
    { time: '2026-01-01T00:00:00.000Z', level: 'error', message: 'boom', request_id: 'req_2' },
    { time: '2026-01-01T00:00:00.000Z', level: 'error', message: 'in the background', request_id: null },
  ]);
});

it('[W24] --log text writes a line for people, in which a client cannot write to their terminal', () => {
  const { log, lines } = open('text');
  log.onRequest!(entry);
  log.onRequest!({ ...entry, path: '/x', isStream: true, isComplete: false, errorCode: undefined });
  expect(lines).toEqual([
    '2026-01-01T00:00:00.000Z 404 GET /v1/agents?[31m 1.2ms req_1 unknown_path\n',
    '2026-01-01T00:00:00.000Z 404 GET /x 1.2ms req_1 stream aborted\n',
  ]);
});

it('[W24] --log off logs only server errors', () => {
  const { log, lines } = open('off');
  expect(log.onRequest).toBeUndefined();
  log.onError('boom', '');
  expect(lines).toEqual(['fleetloom: boom\n']);
});

function open(form: LogForm) {
  const lines: string[] = [];
  const log = createRequestLines({ form, write: (line) => lines.push(line), now: () => Date.UTC(2026, 0, 1) });
  return { log, lines };
}
