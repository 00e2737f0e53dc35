import { expect, it } from 'vitest';
import { programLimits } from '../limits.ts';
import type { ProgramEvent } from '../program.ts';
import { ProgramBounds } from './program-bounds.ts';
import { ProgramEvents } from './program-events.ts';

const tool = { kind: 'builtin', permission: 'allow' } as const;
const call = (callId: string, key = 'main', input: object = {}): ProgramEvent =>
  ({ type: 'call', key, callId, name: 'bash', input, tool }) as ProgramEvent;
const result = (callId: string, key = 'main'): ProgramEvent => ({
  type: 'result',
  key,
  callId,
  content: [],
  isError: false,
});
const opens = (key: string): ProgramEvent => ({
  type: 'thread_opened',
  key,
  parentKey: 'main',
  agentName: 'worker',
  description: null,
  prompt: null,
  callId: null,
});
const works = (workId: string): ProgramEvent => ({
  type: 'work_started',
  key: 'main',
  workId,
  kind: 'command',
  description: 'x',
  until: null,
});
const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, n) => make(n));

it('[U400] a program has a limit of calls, open calls, sub-agents and background work; one more is a reason to end it', () => {
  const {
    programAgentCallsMax: ofAgent,
    programOpenCallsMax: open,
    programThreadsMax: threads,
    programWorksMax: work,
  } = programLimits;
  const bounds = new ProgramBounds();
  expect(bounds.take(times(ofAgent, (n) => call(`c${n}`)))).toBeUndefined();
  expect(bounds.take([result('c0'), call('c0')])).toBeUndefined();
  expect(bounds.take([call('more')])).toBe(`it has ${ofAgent + 1} open tool calls of one agent, and 1000 are allowed`);

  const all = new ProgramBounds();
  expect(all.take(times(open, (n) => call(`c${n}`, `agent ${n % 10}`)))).toBeUndefined();
  // What is open of an agent whose turn has ended was interrupted.
  expect(all.take([{ type: 'thread_ended', key: 'agent 0', status: 'stopped', error: null }])).toBeUndefined();
  expect(all.take(times(open / 10, (n) => call(`d${n}`, 'agent 1x')))).toBeUndefined();
  expect(all.take([call('more', 'agent 2x')])).toContain(`${open + 1} open tool calls, and 5000 are allowed`);

  expect(new ProgramBounds().take(times(threads, (n) => opens(`t${n}`)))).toBeUndefined();
  expect(new ProgramBounds().take(times(threads + 1, (n) => opens(`t${n}`)))).toContain('5001 sub-agents');
  expect(new ProgramBounds().take(times(work, (n) => works(`w${n}`)))).toBeUndefined();
  expect(new ProgramBounds().take(times(work + 1, (n) => works(`w${n}`)))).toContain('1001 commands and tasks');
});

it('[U400] so do all calls of a process, the input of those that are open, and the length of names', () => {
  const bounds = new ProgramBounds({ ...programLimits, programCallsMax: 3, programOpenCallBytesMax: 20 });
  expect(programLimits).toMatchObject({ programCallsMax: 200_000, programOpenCallBytesMax: 64 * 1024 * 1024 });
  expect(bounds.take([call('a'), result('a'), call('b'), result('b'), call('c')])).toBeUndefined();
  expect(bounds.take([call('d')])).toBe('it has 4 tool calls, and 3 are allowed');
  const ofBytes = (chars: number) => [call('a', 'main', { x: 'y'.repeat(chars) })];
  const inputs = () => new ProgramBounds({ ...programLimits, programOpenCallBytesMax: 20 });
  expect([inputs().take(ofBytes(12)), inputs().take(ofBytes(13))]).toEqual([
    undefined,
    'it has 21 bytes of input of open tool calls, and 20 are allowed',
  ]);
  const { programNameCharsMax: max } = programLimits;
  const named = (chars: number) => new ProgramBounds().take([call('x'.repeat(chars))]);
  expect([named(max), named(max + 1)]).toEqual([
    undefined,
    `it used a name of ${max + 1} characters, and 512 are allowed`,
  ]);
});

it('[U400] of a program that is ended for that only the end is passed on', async () => {
  const reasons: string[] = [];
  const events = new ProgramEvents({ onFull: () => {}, onRoom: () => {}, fail: (reason) => reasons.push(reason) });
  events.push([call('a')], 1);
  events.push([call('x'.repeat(programLimits.programNameCharsMax + 1)), call('b')], 1);
  events.push([call('c')], 1);
  events.push([{ type: 'exited', key: 'main', message: 'ended', isWanted: false }], 1);
  events.end();
  const types: string[] = [];
  for await (const batch of events) types.push(...batch.map(({ type }) => type));
  expect(types).toEqual(['call', 'exited']);
  expect(reasons).toHaveLength(1);
});

it('[U406] many calls and sub-agents that arrive together are handed over in parts', async () => {
  const { programHeavyEventsMax: max } = programLimits;
  const events = new ProgramEvents({ onFull: () => {}, onRoom: () => {}, fail: () => {} });
  events.push(
    times(2 * max + 1, (n) => opens(`t${n}`)),
    10,
  );
  events.push([result('a')], 1);
  events.end();
  const sizes: number[] = [];
  for await (const batch of events) sizes.push(batch.length);
  expect(sizes).toEqual([max, max, 2]);
});
