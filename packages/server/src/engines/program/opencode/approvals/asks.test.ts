import { expect, it } from 'vitest';
import { createManualClock } from '../../../../base/clock.ts';
import { createManualSchedule } from '../../../../base/manual-schedule.suite.ts';
import { programLimits } from '../../limits.ts';
import type { ProgramCall } from '../../program.ts';
import type { AskRequest } from '../wire/events.ts';
import { type AskReply, Asks } from './asks.ts';

const asked: ProgramCall['tool'] = { kind: 'builtin', permission: 'ask' };

it('[OC14] the definition answers what it decides: an allowed call runs, a denied one is rejected with a message', () => {
  const { asks, sent, answered } = create();
  expect(asks.take(request('per_1'), 'call_1', { kind: 'builtin', permission: 'allow' })).toBe(false);
  expect(asks.take(request('per_2'), 'call_2', { kind: 'builtin', permission: 'deny' })).toBe(false);
  expect(sent).toEqual([
    ['per_1', { type: 'once' }],
    ['per_2', { type: 'reject', message: expect.stringMatching(/not available/) }],
  ]);
  expect(answered).toEqual(['call_2']);
});

it('[OC14] a decision that came first is sent when opencode asks, which then does not wait', () => {
  const { asks, sent } = create();
  asks.give('call_1', { type: 'deny', message: 'Not yet.' });
  expect(sent).toEqual([]);
  expect(asks.take(request('per_1'), 'call_1', asked)).toBe(false);
  expect(sent).toEqual([['per_1', { type: 'reject', message: 'Not yet.' }]]);
  expect(asks.denialOf('call_1')).toBe('Not yet.');
  asks.end('call_1');
  expect(asks.denialOf('call_1')).toBeUndefined();
});

it('[OC14] an allowed call with another input is denied with the reason, because opencode cannot change the input', () => {
  const { asks, sent } = create();
  asks.take(request('per_1'), 'call_1', asked);
  asks.give('call_1', { type: 'allow', updatedInput: { command: 'ls' } });
  expect(sent).toEqual([
    ['per_1', { type: 'reject', message: expect.stringMatching(/another input.*\{"command":"ls"\}/) }],
  ]);
});

it('[OC15] a denial waits until every other request of its conversation is decided, because opencode rejects them with it', () => {
  const { asks, sent, answered } = create();
  for (const name of ['1', '2', '3']) asks.take(request(`per_${name}`), `call_${name}`, asked);
  asks.take(request('per_4', 'ses_other'), 'call_4', asked);
  asks.give('call_2', { type: 'deny', message: 'Not two.' });
  asks.give('call_3', { type: 'allow' });
  expect(sent).toEqual([['per_3', { type: 'once' }]]);
  asks.give('call_1', { type: 'allow' });
  expect(sent.slice(1)).toEqual([
    ['per_1', { type: 'once' }],
    ['per_2', { type: 'reject', message: 'Not two.' }],
  ]);
  expect(answered).toEqual(['call_3', 'call_1', 'call_2']);
});

it('[OC15] a denial waits also for calls that opencode will ask for, and not longer than 2 s', () => {
  const { asks, sent, advance } = create();
  for (const name of ['1', '2', '3']) asks.expect(`call_${name}`, 'ses_1');
  asks.give('call_1', { type: 'deny', message: 'Not one.' });
  asks.give('call_2', { type: 'allow' });
  asks.take(request('per_1'), 'call_1', asked);
  asks.take(request('per_2'), 'call_2', asked);
  advance(programLimits.opencodeAskMs - 1);
  expect(sent).toEqual([['per_2', { type: 'once' }]]);
  advance(1);
  expect(sent.slice(1)).toEqual([['per_1', { type: 'reject', message: 'Not one.' }]]);
});

it('[OC15] a call that ends on its own no longer holds up a denial', () => {
  const { asks, sent } = create();
  for (const name of ['1', '2']) asks.take(request(`per_${name}`), `call_${name}`, asked);
  asks.give('call_1', { type: 'deny', message: 'No.' });
  expect([asks.end('call_2'), asks.end('call_2')]).toEqual([true, false]);
  expect(sent).toEqual([['per_1', { type: 'reject', message: 'No.' }]]);
});

it('[OC15] several denials are one rejection, and what they say is handed over for a message to the model', () => {
  const { asks, sent, answered, dropped } = create();
  for (const name of ['1', '2']) asks.take(request(`per_${name}`), `call_${name}`, asked);
  asks.give('call_2', { type: 'deny', message: 'Not two.' });
  asks.give('call_1', { type: 'deny', message: 'Not one.' });
  expect(sent).toEqual([['per_2', { type: 'reject', message: 'Not two.' }]]);
  expect(dropped).toEqual([['ses_1', ['Not two.', 'Not one.']]]);
  expect(answered).toEqual(['call_2', 'call_1']);
});

it('[OC15] a request that opencode has rejected with another one is dropped, and one that was decided here is not', () => {
  const { asks, dropped } = create();
  for (const name of ['1', '2']) asks.take(request(`per_${name}`), `call_${name}`, asked);
  asks.give('call_1', { type: 'allow' });
  asks.takeReplied('per_1');
  expect(dropped).toEqual([]);
  asks.takeReplied('per_2');
  expect(dropped).toEqual([['ses_1', []]]);
});

it('[OC15] a denial that ends the turn is sent at once and without a message, which makes opencode end it', () => {
  const { asks, sent, dropped } = create();
  for (const name of ['1', '2']) asks.take(request(`per_${name}`), `call_${name}`, asked);
  asks.give('call_1', { type: 'deny', message: 'Stop.', isInterrupting: true });
  expect(sent).toEqual([['per_1', { type: 'reject', message: null }]]);
  expect(dropped).toEqual([]);
});

it('[OC16] a text answers all questions, JSON answers each by its own text, and an error rejects the question', () => {
  const questions = ['Which one?', 'How many?'];
  const answersOf = (text: string, isError = false) => {
    const { asks, sent } = create();
    const custom: ProgramCall['tool'] = { kind: 'custom', toolName: 'question', isQuestion: true };
    asks.take({ ...request('que_1'), kind: 'question', questions }, 'call_1', custom);
    asks.give('call_1', { content: [{ type: 'text', text }], isError });
    return sent[0]?.[1];
  };
  expect(answersOf('Left')).toEqual({ type: 'answers', answers: [['Left'], ['Left']] });
  const each = JSON.stringify({ 'Which one?': 'Left', 'How many?': '2' });
  expect(answersOf(each)).toEqual({ type: 'answers', answers: [['Left'], ['2']] });
  expect(answersOf('{"other":"x"}')).toEqual({ type: 'answers', answers: [['{"other":"x"}'], ['{"other":"x"}']] });
  expect(answersOf('no', true)).toEqual({ type: 'reject_question' });
});

function create() {
  const sent: [string, AskReply][] = [];
  const answered: string[] = [];
  const dropped: [string, readonly string[]][] = [];
  const { schedule, advance } = createManualSchedule(createManualClock());
  const asks = new Asks({
    schedule,
    reply: ({ id }, reply) => sent.push([id, reply]),
    onAnswered: (callId) => answered.push(callId),
    onDropped: (conversation, messages) => dropped.push([conversation, messages]),
  });
  return { asks, sent, answered, dropped, advance };
}

function request(id: string, sessionId = 'ses_1'): AskRequest {
  return { kind: 'permission', id, sessionId, callId: null, permission: 'bash', questions: [] };
}
