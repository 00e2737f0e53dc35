import { expect, it } from 'vitest';
import type { AnswerFailure } from '../../gateway/events.ts';
import { Refusals } from './refusals.ts';

it('[OC7] the status of a failed attempt is that of the newest refusal with its message, of the last 50', () => {
  const refusals = new Refusals();
  const fail = (status: number | null, message: string) => {
    const failure: AnswerFailure = { reason: 'refused', status, message };
    const of = { sessionId: null, agentId: null, parentAgentId: null, requestId: 'r', messageId: null, model: null };
    refusals.take({ ...of, event: { type: 'failed', failure } });
  };
  fail(529, 'overloaded_error: Overloaded');
  fail(429, 'slow down');
  fail(null, 'cut');
  expect(['Overloaded', 'slow down', 'cut', 'unknown', ''].map((message) => refusals.statusOf(message))).toEqual([
    529,
    429,
    null,
    null,
    null,
  ]);
  for (let count = 0; count < 48; count++) fail(500, 'x');
  expect(refusals.statusOf('Overloaded')).toBe(529);
  fail(500, 'x');
  expect([refusals.statusOf('Overloaded'), refusals.statusOf('slow down')]).toEqual([null, 429]);
});
