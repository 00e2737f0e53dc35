import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { expect, it } from 'vitest';
import { programLimits } from '../../limits.ts';
import type { ProgramEvent } from '../../program.ts';
import { Answers } from './answers.ts';
import type { AnswerEvent, GatewayEvent } from '../../gateway/events.ts';
import { noUsage } from './usage.ts';

const ready = { isRunning: true, isCalling: () => false, isFull: false };
const unopened = { ...ready, isRunning: false };
const calling = { ...ready, isCalling: () => true };
const begun: AnswerEvent = { type: 'begun', usage: noUsage };
const finished: AnswerEvent = { type: 'finished' };
const broken: AnswerEvent = { type: 'failed', failure: { reason: 'broken', status: null, message: 'cut' } };

it('[J17] an answer that the gateway sees is held until its thread is open and the calls before it have results', () => {
  const { tap, answers } = open();
  expect(tap('m1', begun, unopened)).toEqual([]);
  expect(tap('m1', starts(0), unopened)).toEqual([]);
  expect(typesOf(answers.release('a1', ready))).toEqual(['request_started']);
  tap('m1', grows(0, 'Hi'));
  tap('m1', stops(0));
  line(answers, 'm1', 'Hi');
  tap('m1', finished, calling);
  expect(tap('m2', begun, calling)).toEqual([]);
  expect(tap('m2', starts(0), calling)).toEqual([]);
  expect(tap('m2', grows(0, 'Ho'), calling)).toEqual([]);
  expect(typesOf(answers.release('a1', ready))).toEqual(['request_started', 'block_started', 'block_delta']);
});

it('[J17] a request is over when the endpoint has finished and every block has had its line', () => {
  const { tap, answers } = open();
  for (const event of [begun, starts(0), grows(0, 'Hi'), starts(1, 'tool_use'), finished]) tap('m1', event);
  expect(line(answers, 'm1', 'Hi')).toMatchObject([{ type: 'block_ended', block: 'request m1 #0' }]);
  expect(answers.release('a1', ready)).toEqual([]);
  answers.openOf('a1')!.settleCall('t1');
  expect(typesOf(answers.release('a1', ready))).toEqual(['request_ended']);
});

it('[J262] the next answer is held while a line of the one before is missing, and its own line releases it', () => {
  const { tap, answers } = open();
  for (const event of [begun, starts(0), grows(0, 'One'), finished]) tap('m1', event);
  for (const event of [begun, starts(0), grows(0, 'Two')]) expect(tap('m2', event)).toEqual([]);
  expect(line(answers, 'm1', 'One')).toMatchObject([{ type: 'block_ended' }]);
  expect(typesOf(answers.release('a1', ready))).toEqual([
    'request_ended',
    'request_started',
    'block_started',
    'block_delta',
  ]);
  for (const event of [begun, starts(0), grows(0, 'Three')]) expect(tap('m3', event)).toEqual([]);
  expect(typesOf(line(answers, 'm3', 'Three'))).toEqual([
    'request_ended',
    'request_started',
    'block_started',
    'block_delta',
    'block_ended',
  ]);
});

it('[J263] a text of white space, which has no line, ends with its stream and after the blocks before it; an empty one is not emitted', () => {
  const { tap, answers } = open();
  for (const event of [begun, starts(0), grows(0, 'One'), stops(0), starts(1), stops(1), starts(2)]) tap('m1', event);
  expect(tap('m1', grows(2, ' \n'))).toMatchObject([{ type: 'block_started' }, { type: 'block_delta', text: ' \n' }]);
  expect(tap('m1', stops(2))).toEqual([]);
  tap('m1', starts(3, 'tool_use'));
  expect(tap('m1', finished)).toEqual([]);
  expect(line(answers, 'm1', 'One')).toMatchObject([
    { type: 'block_ended', block: 'request m1 #0' },
    { type: 'block_ended', block: 'request m1 #2', content: { text: ' \n' } },
  ]);
  answers.openOf('a1')!.settleCall('t1');
  expect(typesOf(answers.release('a1', ready))).toEqual(['request_ended']);
});

it('[J363] text after a tool call is held until the line of the call, and then emitted in its order', () => {
  const { tap, answers } = open();
  for (const event of [begun, starts(0), grows(0, 'One'), stops(0), starts(1, 'tool_use'), stops(1)]) tap('m1', event);
  for (const event of [starts(2), grows(2, 'Tw'), grows(2, 'o'), stops(2)]) expect(tap('m1', event)).toEqual([]);
  for (const event of [starts(3), grows(3, 'Thr')]) expect(tap('m1', event)).toEqual([]);
  line(answers, 'm1', 'One');
  expect(answers.openOf('a1')!.settleCall('t1')).toMatchObject([
    { type: 'block_started', block: 'request m1 #2' },
    { type: 'block_delta', text: 'Two' },
    { type: 'block_started', block: 'request m1 #3' },
    { type: 'block_delta', text: 'Thr' },
  ]);
  expect(tap('m1', grows(3, 'ee'))).toMatchObject([{ type: 'block_delta', text: 'ee' }]);
});

it('[J264] the request of an answer that was broken off is an error; a block of it counts if its line comes', () => {
  const { tap, answers } = open();
  for (const event of [begun, starts(0), grows(0, 'Half'), starts(1), grows(1, 'a'), broken]) tap('m1', event);
  expect(typesOf(line(answers, 'm1', 'Half'))).toEqual(['block_ended']);
  // No line comes for the second block: the next message does.
  expect(line(answers, 'm2', 'Whole')).toMatchObject([
    { type: 'request_ended', isError: true },
    { type: 'request_started' },
    { type: 'block_ended', content: { text: 'Whole' } },
  ]);
});

it('[J264] a request that is repeated after its answer broke off is a request of its own, also under the same message id', () => {
  const { answers, tap } = open();
  for (const event of [begun, starts(0), grows(0, 'One'), stops(0), broken]) tap('m1', event);
  const repeat = (event: AnswerEvent) => answers.tap('a1', { ...toEvent('m1', event), requestId: 'again' }, ready);
  expect(repeat(begun)).toMatchObject([{ type: 'request_ended', isError: true }, { type: 'request_started' }]);
  for (const event of [starts(0), grows(0, 'One'), stops(0), finished]) repeat(event);
  expect(line(answers, 'm1', 'One')).toMatchObject([{ type: 'block_ended', block: 'again #0' }]);
  expect(answers.release('a1', ready)).toMatchObject([{ type: 'request_ended', isError: false }]);
});

it('[J18] a reader that cannot follow receives a true beginning, and the rest of the answer with its lines', () => {
  const { tap, answers } = open();
  tap('m1', begun);
  tap('m1', starts(0));
  expect(tap('m1', grows(0, 'One '))).toHaveLength(2);
  expect(tap('m1', grows(0, 'two '), { ...ready, isFull: true })).toEqual([]);
  expect(tap('m1', grows(0, 'three'))).toEqual([]);
  tap('m1', starts(1));
  expect(tap('m1', grows(1, 'Four'))).toEqual([]);
  expect(line(answers, 'm1', 'One two three')).toMatchObject([{ type: 'block_ended', block: 'request m1 #0' }]);
});

it('[J18] events held for lines are bounded: at the limit they are dropped, and the text arrives with the lines', () => {
  const { tap, answers } = open();
  tap('m1', begun, unopened);
  for (let count = 1; count < programLimits.programTappedEventsMax; count++) tap('m1', grows(0, 'x'), unopened);
  expect(typesOf(answers.release('a1', ready))).toEqual(['request_started']);
  line(answers, 'm1', 'x');
  tap('m2', begun, unopened);
  for (let count = 0; count < programLimits.programTappedEventsMax; count++) tap('m2', grows(0, 'x'), unopened);
  expect(answers.release('a1', ready)).toEqual([]);
  expect(typesOf(line(answers, 'm2', 'x'))).toEqual(['request_ended', 'request_started', 'block_ended']);
});

it('[J265] a line that comes before the gateway saw its block is emitted once, and the rest of the answer comes from the lines', () => {
  const { tap, answers } = open();
  expect(typesOf(line(answers, 'm1', 'One'))).toEqual(['request_started', 'block_ended']);
  for (const event of [begun, starts(0), grows(0, 'One'), starts(1), grows(1, 'Two')])
    expect(tap('m1', event)).toEqual([]);
  expect(typesOf(line(answers, 'm1', 'Two'))).toEqual(['block_ended']);
  expect(tap('m1', { type: 'usage', usage: { ...noUsage, outputTokens: 7 }, stopReason: 'tool_use' })).toEqual([]);
  tap('m1', finished);
  expect(answers.endUnannounced('a1')).toMatchObject([
    { type: 'request_ended', usage: { outputTokens: 7 }, stopReason: 'tool_use' },
  ]);
  // The whole of another answer is seen only after its request was over.
  line(answers, 'm2', 'Three');
  answers.endUnannounced('a1');
  for (const event of [begun, starts(0), grows(0, 'Three'), finished]) expect(tap('m2', event)).toEqual([]);
});

it('[J266] an opaque block is settled by its own line, and not by the line of a thinking block', () => {
  const { tap, answers } = open();
  for (const event of [begun, starts(0, 'other'), starts(1, 'thinking'), grows(1, 'Hm'), finished]) tap('m1', event);
  const opaque = { type: 'opaque', raw: {} } as const;
  answers.openOf('a1')!.settleOpaque({ messageId: 'm1', name: 'm1 0' }, opaque);
  expect(line(answers, 'm1', 'Hm', 'thinking')).toMatchObject([{ type: 'block_ended', block: 'request m1 #1' }]);
  expect(typesOf(answers.release('a1', ready))).toEqual(['request_ended']);
});

it('[J267] a late line of the message before is emitted once and begins no other request', () => {
  const { tap, answers } = open();
  for (const event of [begun, starts(0), grows(0, 'One'), finished]) tap('m1', event);
  line(answers, 'm1', 'One');
  answers.release('a1', ready);
  for (const event of [begun, starts(0), grows(0, 'Two')]) tap('m2', event);
  expect(line(answers, 'm1', 'Late')).toMatchObject([{ type: 'block_ended', content: { text: 'Late' } }]);
  expect(line(answers, 'm2', 'Two')).toMatchObject([{ type: 'block_ended', block: 'request m2 #0' }]);
});

function open() {
  const answers = new Answers();
  const tap = (messageId: string, event: AnswerEvent, state = ready) =>
    answers.tap('a1', toEvent(messageId, event), state);
  return { answers, tap };
}

/** A line with one whole text. */
function line(answers: Answers, id: string, text: string, kind: 'text' | 'thinking' = 'text'): ProgramEvent[] {
  const printed: StreamJsonMessage = { type: 'assistant', parent_tool_use_id: 't0', message: { id, model: 'm' } };
  const before = answers.before('a1', printed);
  const said = answers.whole('a1', { messageId: id, name: `${id} 0` }, kind, text);
  return [...before, ...said, ...answers.after('a1', printed)];
}

function typesOf(events: readonly ProgramEvent[]): string[] {
  return events.map(({ type }) => type);
}

function toEvent(messageId: string, event: AnswerEvent): GatewayEvent {
  const who = { sessionId: 's', agentId: 'a1', parentAgentId: null };
  return { ...who, requestId: `request ${messageId}`, messageId, model: 'm', event };
}

function starts(index: number, block: 'text' | 'thinking' | 'tool_use' | 'other' = 'text'): AnswerEvent {
  return { type: 'block_started', index, block, call: block === 'tool_use' ? { id: 't1', name: 'Bash' } : null };
}

function grows(index: number, text: string): AnswerEvent {
  return { type: 'delta', index, text };
}

function stops(index: number): AnswerEvent {
  return { type: 'block_stopped', index };
}
