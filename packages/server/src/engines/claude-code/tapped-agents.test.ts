import { expect, it } from 'vitest';
import { limits } from '../../base/limits.ts';
import { GrowingBlocks } from './blocks.ts';
import type { AnswerEvent, GatewayEvent } from './gateway/events.ts';
import { Requests } from './requests.ts';
import { TappedAgents } from './tapped-agents.ts';
import { noUsage } from './usage.ts';

const ready = { isOpened: true, isFull: false };

it('[J17] what the gateway sees waits until the agent is known and the results before it were told', () => {
  const { take, release, tapped } = open();
  expect(take('m1', { type: 'begun', usage: noUsage }, { ...ready, isOpened: false })).toEqual([]);
  expect(take('m1', text(0), { ...ready, isOpened: false })).toEqual([]);
  expect(release().map(({ type }) => type)).toEqual(['request_started']);
  take('m1', { type: 'block_started', index: 1, block: 'tool_use', call: { id: 't1', name: 'Bash' } });
  take('m1', { type: 'finished' });
  expect(take('m2', { type: 'begun', usage: noUsage })).toEqual([]);
  expect(take('m2', text(0))).toEqual([]);
  expect(take('m2', grown(0, 'Hi'))).toEqual([]);
  tapped.returned('a1', 't1');
  expect(release().map(({ type }) => type)).toEqual([
    'request_ended',
    'request_started',
    'block_started',
    'block_delta',
  ]);
});

it('[J17] a request is over when the endpoint has finished and every block of it has had its line', () => {
  const { take, release, tapped } = open();
  take('m1', { type: 'begun', usage: noUsage });
  take('m1', text(0));
  take('m1', grown(0, 'Hi'));
  take('m1', text(1));
  take('m1', { type: 'block_stopped', index: 1 });
  take('m1', { type: 'block_started', index: 2, block: 'tool_use', call: { id: 't1', name: 'Bash' } });
  take('m1', { type: 'finished' });
  expect(tapped.isAnswering('a1')).toBe(true);
  expect(tapped.settle('a1', 'm1', 'text')).toBe('m1 #0');
  expect(release()).toEqual([]);
  tapped.settleCall('a1', 't1');
  expect(release().map(({ type }) => type)).toEqual(['request_ended']);
  expect(tapped.isAnswering('a1')).toBe(false);
});

it('[J18] who cannot follow is told a true beginning and then no more, and who falls too far behind block by block', () => {
  const { take, release } = open();
  take('m1', { type: 'begun', usage: noUsage });
  take('m1', text(0));
  expect(take('m1', grown(0, 'One '))).toHaveLength(2);
  expect(take('m1', grown(0, 'two '), { ...ready, isFull: true })).toEqual([]);
  expect(take('m1', grown(0, 'three'))).toEqual([]);

  const far = open();
  const unknown = { ...ready, isOpened: false };
  far.take('m1', { type: 'begun', usage: noUsage }, unknown);
  for (let count = 1; count < limits.programTappedEventsMax; count++) far.take('m1', grown(0, 'x'), unknown);
  expect(far.release().map(({ type }) => type)).toEqual(['request_started']);
  for (let count = 0; count <= limits.programTappedEventsMax; count++) far.take('m2', grown(0, 'x'), unknown);
  expect(far.release()).toEqual([]);
  expect(release()).toEqual([]);
});

function open() {
  const tapped = new TappedAgents(new GrowingBlocks(), new Requests());
  const take = (messageId: string, event: AnswerEvent, state = ready) =>
    tapped.take('a1', toEvent(messageId, event), state);
  return { tapped, take, release: () => tapped.release('a1', ready) };
}

function toEvent(messageId: string, event: AnswerEvent): GatewayEvent {
  const who = { sessionId: 's', agentId: 'a1', parentAgentId: null };
  return { ...who, requestId: 'r', messageId, model: 'm', event };
}

function text(index: number): AnswerEvent {
  return { type: 'block_started', index, block: 'text', call: null };
}

function grown(index: number, more: string): AnswerEvent {
  return { type: 'delta', index, text: more };
}
