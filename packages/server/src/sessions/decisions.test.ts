import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { beginState } from './core/state/begin-state.ts';
import { evolve } from './core/state/evolve.ts';
import { confirm, customResult, openFleet, result, solo, workerResult } from './suite/fleet.suite.ts';

// What a decision leaves in the log: who, when, by which rule, and about what exactly.

const asking = { kind: 'builtin' as const, permission: 'ask' as const };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

it('[R270] the frame of a decision has its key, rule, input and time', async () => {
  const fleet = await openFleet({ tools: { bash: asking } });
  const input = { timeout: 5, command: 'ls -l', env: { b: '2', a: '1' } };
  const id = await fleet.begin(solo, { turns: [[{ call: 'bash', input }], [{ say: 'Done.' }]] });
  const { seq, time: askedAt } = await fleet.rest(id);
  const [ask] = await fleet.asks(id);
  const [sent] = await fleet.send(id, { ...confirm(ask!), by: 'ann', rule: 'bash(command: ls *)' });
  const { time } = await fleet.rest(id, seq);
  const frame = (await fleet.frames(id)).find(({ type }) => type === 'user.tool_confirmation')!;
  expect(frame.payload).toEqual({
    id: sent!.id,
    tool_use_id: ask,
    result: 'allow',
    deny_message: null,
    by: 'ann',
    rule: 'bash(command: ls *)',
    input_sha256: sha256('{"command":"ls -l","env":{"a":"1","b":"2"},"timeout":5}'),
  });
  expect(frame.time).toBeGreaterThanOrEqual(askedAt);
  expect(frame.time).toBeLessThanOrEqual(time);
});

it('[R271] a denial leaves the same, with its reason, and answers in one request leave one frame each, without a rule', async () => {
  const fleet = await openFleet({ tools: { bash: asking } });
  const calls = ['ls', 'rm x', 'ls'].map((command) => ({ call: 'bash', input: { command } }));
  const id = await fleet.begin(solo, { turns: [calls, [{ say: 'Done.' }]] });
  const { seq } = await fleet.rest(id);
  const [one, two, three] = await fleet.asks(id);
  const by = 'ann';
  await fleet.send(id, { ...confirm(one!), by }, { ...confirm(two!, 'deny', 'no'), by }, { ...confirm(three!), by });
  await fleet.rest(id, seq);
  const [ls, rm] = [sha256('{"command":"ls"}'), sha256('{"command":"rm x"}')];
  const decided = { by: 'ann', rule: null };
  expect(await fleet.payloads(id, 'user.tool_confirmation')).toMatchObject([
    { tool_use_id: one, result: 'allow', deny_message: null, ...decided, input_sha256: ls },
    { tool_use_id: two, result: 'deny', deny_message: 'no', ...decided, input_sha256: rm },
    { tool_use_id: three, result: 'allow', deny_message: null, ...decided, input_sha256: ls },
  ]);
});

it('[R272] the result of a custom tool has its key and input; the result of a worker has neither', async () => {
  const fleet = await openFleet({ tools: { form: { kind: 'custom' }, read: { kind: 'builtin' } } });
  const turns = [[{ call: 'form', input: { b: 1, a: [] } }, { call: 'read' }], [{ say: 'Done.' }]];
  const id = await fleet.begin(solo, { turns }, { environment: { id: 'env_1', type: 'self_hosted' } });
  const { seq } = await fleet.rest(id);
  const [form, read] = await fleet.asks(id);
  const [given, ran] = await fleet.send(
    id,
    { ...customResult(form!, 'filled'), by: 'form robot' },
    workerResult(read!, 'file'),
  );
  await fleet.rest(id, seq);
  expect(await fleet.payloads(id, 'user.custom_tool_result')).toEqual([
    {
      id: given!.id,
      custom_tool_use_id: form,
      content: result('filled').content,
      is_error: false,
      by: 'form robot',
      input_sha256: sha256('{"a":[],"b":1}'),
    },
  ]);
  expect(await fleet.payloads(id, 'user.tool_result')).toEqual([
    { id: ran!.id, tool_use_id: read, content: result('file').content, is_error: false },
  ]);
});

it('[R273] a withdrawn approval is closed by a result that names the cause, and a late decision is logged as not applied', async () => {
  const fleet = await openFleet({ tools: { bash: asking } });
  const id = await fleet.begin(solo, { turns: [[{ call: 'bash' }], [{ say: 'Done.' }]] });
  const { seq } = await fleet.rest(id);
  const [ask] = await fleet.asks(id);
  await fleet.send(id, { type: 'user.interrupt', session_thread_id: null }, { ...confirm(ask!), by: 'ann' });
  await fleet.rest(id, seq);
  expect(await fleet.payloads(id, 'user.tool_confirmation')).toMatchObject([{ by: 'ann', not_applied: 'call_ended' }]);
  expect(await fleet.payloads(id, 'agent.tool_result')).toMatchObject([{ closes_ask: ask, closed_by: 'cancel' }]);
});

it('[R277] a log without these fields, as older versions wrote it, folds to the same state', async () => {
  const fleet = await openFleet({ tools: { bash: asking, form: { kind: 'custom' } } });
  const turns = [[{ call: 'bash' }, { call: 'form' }], [{ call: 'bash' }]];
  const id = await fleet.begin(solo, { turns });
  const { seq } = await fleet.rest(id);
  const [bash, form] = await fleet.asks(id);
  await fleet.send(id, { ...confirm(bash!), by: 'ann', rule: 'x' }, { ...customResult(form!, 'filled'), by: 'ann' });
  await fleet.rest(id, seq);
  const added = new Set(['by', 'rule', 'input_sha256']);
  let stripped = 0;
  const [first, ...rest] = (await fleet.frames(id)).map((frame) => {
    if (!frame.type.startsWith('user.')) return frame;
    const fields = Object.entries(frame.payload);
    const old = fields.filter(([name]) => !added.has(name));
    stripped += fields.length - old.length;
    // The same type with fewer of its optional fields.
    return { ...frame, payload: Object.fromEntries(old) } as unknown as typeof frame;
  });
  const state = beginState(id, first!);
  for (const frame of rest) evolve(state, frame);
  expect(stripped).toBe(5);
  expect(state).toEqual(await fleet.state(id));
});
