import { expect, it } from 'vitest';
import { programLimits } from '../../limits.ts';
import { LateCalls } from './late-calls.ts';

it('[J501] a custom tool call that no line has is looked for in the transcripts every 100 ms until one has it', () => {
  const { calls, known, looks, missing, tick } = follow();
  calls.take(request('c1'));
  calls.take(request('c1'));
  for (let count = 0; count < 3; count++) tick();
  expect(looks).toEqual(['c1', 'c1', 'c1']);
  known.add('c1');
  for (let count = 0; count < 3; count++) tick();
  expect([looks.length, missing]).toEqual([3, []]);
});

it('[J501] a call that a line has is not looked for, and neither is any other request', () => {
  const { calls, known, looks, tick } = follow();
  known.add('c1');
  calls.take(request('c1'));
  calls.take({ ...request('c2'), type: 'assistant' });
  calls.take({ type: 'control_request', request: { subtype: 'mcp_message', message: { method: 'tools/list' } } });
  calls.take({ type: 'control_request', request: { subtype: 'can_use_tool', tool_use_id: 'c3' } });
  expect([tick(), looks]).toEqual([0, []]);
});

it('[J501] a call that no transcript has within 30 s is missing, once, and a program that has ended leaves no timer', () => {
  const { transcriptCallMs, transcriptCallPollMs } = programLimits;
  expect([transcriptCallMs, transcriptCallPollMs]).toEqual([30_000, 100]);
  const { calls, looks, missing, tick } = follow();
  calls.take(request('c1'));
  for (let count = 0; count < transcriptCallMs / transcriptCallPollMs; count++) tick();
  expect([looks.length, missing]).toEqual([300, []]);
  tick();
  expect([missing, tick()]).toEqual([['c1'], 0]);
  calls.take(request('c2'));
  calls.close();
  expect([tick(), looks.length]).toEqual([0, 300]);
});

/** With a clock that the test moves: `tick` runs what is due, and gives how many were. */
function follow() {
  const known = new Set<string>();
  const looks: string[] = [];
  const missing: string[] = [];
  let due: (() => void)[] = [];
  const calls = new LateCalls({
    schedule: (run) => {
      due.push(run);
      return () => void (due = due.filter((each) => each !== run));
    },
    isKnown: (callId) => known.has(callId),
    look: (callId) => void looks.push(callId),
    onMissing: (callId) => void missing.push(callId),
  });
  const tick = () => {
    const now = due;
    due = [];
    for (const run of now) run();
    return now.length;
  };
  return { calls, known, looks, missing, tick };
}

function request(callId: string) {
  const params = { name: 'form', _meta: { 'claudecode/toolUseId': callId } };
  return { type: 'control_request', request: { subtype: 'mcp_message', message: { method: 'tools/call', params } } };
}
