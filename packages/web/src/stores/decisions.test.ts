import { fleetLimits } from '@fleetloom/protocol/fleet';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { parseUndoMs, undoSetting } from './undo-setting.ts';
import { storeLimits } from './limits.ts';
import { type InboxItem, toInboxItems } from '../model/inbox-items.ts';
import { sampleLog } from '../model/sample-log.suite.ts';
import { SessionModel } from '../model/session-model.ts';
import { toShownRows } from '../model/summary.ts';
import { Decisions, shownRuleOf, toEvent } from './decisions.ts';
import { toDraft, toEdited } from '../inbox/edit-input.ts';

const sent: unknown[] = [];
let status = 200;

beforeEach(() => {
  vi.useFakeTimers();
  status = 200;
  sent.length = 0;
  vi.stubGlobal('fetch', async (_: string, { body }: { body: string }) => {
    // Only the page's own timers.
    sent.push(...(JSON.parse(body) as { events: unknown[] }).events);
    return Response.json(status === 200 ? {} : { error: { message: 'it was answered' } }, { status });
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function askOf(sessionId: string): InboxItem {
  const session = new SessionModel(sessionId);
  for (const event of sampleLog({ sessionId, isOpen: true })) session.fold(event);
  const { slots } = session;
  return toInboxItems([{ session, slots, rows: toShownRows(session, slots, slots.lastAt!) }], slots.lastAt!, true)[0]!;
}

it('[Z32] a decision is sent once, after the undo time, and can be undone until then', async () => {
  const decisions = new Decisions();
  const item = askOf('sesn_1');
  decisions.decide(item, 'allow');
  await vi.advanceTimersByTimeAsync(storeLimits.undoMs - 1);
  expect([decisions.undo(), sent]).toEqual([true, []]);
  decisions.decide(item, 'deny', 'not now');
  decisions.decide(item, 'allow');
  await vi.advanceTimersByTimeAsync(storeLimits.undoMs);
  expect(sent).toEqual([
    { type: 'user.tool_confirmation', tool_use_id: item.id, result: 'deny', deny_message: 'not now' },
  ]);
  expect([decisions.undo(), decisions.find(item.id)?.state]).toEqual([false, 'sent']);
  decisions.follow([]);
  expect(decisions.find(item.id)).toBeUndefined();
});

it('[Z32] a decision that the server refuses is reported and can be made again', async () => {
  const decisions = new Decisions();
  const item = askOf('sesn_1');
  status = 400;
  decisions.decide(item, 'allow');
  await vi.advanceTimersByTimeAsync(storeLimits.undoMs);
  expect(decisions.find(item.id)).toMatchObject({ state: 'failed', problem: 'it was answered' });
  decisions.decide(item, 'deny');
  expect(decisions.find(item.id)).toMatchObject({ state: 'pending', verdict: 'deny' });
});

it('[Z32] a rule covers the same tool with exactly the same input in the same session, and nothing else', async () => {
  const decisions = new Decisions();
  const item = askOf('sesn_1');
  const same = { ...item, id: 'same' };
  const others = [
    { ...item, id: 'input', input: { command: 'ls 1 ' } },
    { ...item, id: 'tool', tool: 'write' },
    { ...askOf('sesn_2'), id: 'session' },
  ];
  decisions.addRule(item);
  decisions.follow([item, same, ...others]);
  await vi.advanceTimersByTimeAsync(storeLimits.undoMs);
  expect(sent.map((event) => (event as { tool_use_id: string }).tool_use_id)).toEqual([item.id, 'same']);
});

it('[Z320] a decision by a rule is sent with the rule as it was shown; a decision by the user has none', async () => {
  const decisions = new Decisions();
  const item = askOf('sesn_1');
  const answer = { type: 'user.tool_confirmation', result: 'allow' };
  decisions.addRule(item);
  decisions.follow([item, { ...item, id: 'same' }]);
  decisions.decide({ ...item, id: 'other' }, 'allow', '', { waitMs: 0 });
  await vi.advanceTimersByTimeAsync(0);
  const rule = `bash(input: ${JSON.stringify(item.input)})`;
  expect([shownRuleOf(item), sent]).toEqual([
    rule,
    [
      { ...answer, tool_use_id: item.id, rule },
      { ...answer, tool_use_id: 'same', rule },
      { ...answer, tool_use_id: 'other' },
    ],
  ]);
  // A rule that is too long for the log is cut as shown.
  const long = shownRuleOf({ ...item, input: { command: 'x'.repeat(fleetLimits.ruleCharsMax) } });
  expect([long.length, long.endsWith('characters)')]).toEqual([fleetLimits.ruleCharsMax, true]);
});

it('[Z351, Z352] an edited input and an interrupt are sent with the decision', () => {
  const item = askOf('sesn_1');
  const confirmation = { type: 'user.tool_confirmation', tool_use_id: item.id };
  const updatedInput = { command: 'ls' };
  expect(toEvent({ item, verdict: 'allow', text: '', rule: null, updatedInput })).toEqual({
    ...confirmation,
    result: 'allow',
    updated_input: updatedInput,
  });
  expect(toEvent({ item, verdict: 'deny', text: 'Stop.', rule: null, isInterrupting: true })).toEqual({
    ...confirmation,
    result: 'deny',
    deny_message: 'Stop.',
    interrupt: true,
  });
});

it('[Z351] a command is edited as text, any other input as JSON; an invalid input has a reason', () => {
  const bash = { command: 'rm -rf build', timeout: 5 };
  expect([toDraft(bash), toDraft({ a: [1] })]).toEqual(['rm -rf build', '{\n  "a": [\n    1\n  ]\n}']);
  expect(toEdited(bash, 'rm -r build')).toEqual({ type: 'input', input: { command: 'rm -r build', timeout: 5 } });
  expect(toEdited({ a: [1] }, '{"a":[2]}')).toEqual({ type: 'input', input: { a: [2] } });
  expect(toEdited(bash, toDraft(bash))).toEqual({ type: 'unchanged' });
  expect(toEdited(bash, ' ')).toEqual({ type: 'problem', problem: 'The command is empty.' });
  for (const text of ['[]', '"x"', 'null'])
    expect(toEdited({}, text)).toEqual({ type: 'problem', problem: 'The input of a tool must be a JSON object.' });
  expect(toEdited({}, '{')).toMatchObject({ problem: expect.stringMatching(/^Not valid JSON: /) });
});

it('[Z32] an answer is sent as the result of the tool', () => {
  const item = askOf('sesn_1');
  expect(toEvent({ item, verdict: 'answer', text: '42', rule: null })).toEqual({
    type: 'user.custom_tool_result',
    custom_tool_use_id: item.id,
    content: [{ type: 'text', text: '42' }],
  });
});

it('[Z305] the undo time is one of the listed choices', async () => {
  expect([null, '5000', '0', '7', 'x', '-1'].map(parseUndoMs)).toEqual([
    storeLimits.undoMs,
    5_000,
    0,
    storeLimits.undoMs,
    storeLimits.undoMs,
    storeLimits.undoMs,
  ]);
  const kept = new Map<string, string>();
  vi.stubGlobal('localStorage', { setItem: (key: string, value: string) => void kept.set(key, value) });
  const decisions = new Decisions();
  try {
    undoSetting.set(5_000);
    decisions.decide(askOf('sesn_1'), 'allow');
    await vi.advanceTimersByTimeAsync(4_999);
    expect([sent, [...kept.values()]]).toEqual([[], ['5000']]);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent).toHaveLength(1);
  } finally {
    undoSetting.set(storeLimits.undoMs);
  }
});
