import { expect, it } from 'vitest';
import {
  confirm,
  crash,
  createGate,
  customResult,
  delegates,
  type Fleet,
  interruption,
  lead,
  message,
  openFleet,
  result,
  solo,
  workerResult,
  workspaceId,
} from './suite/fleet.suite.ts';
import { onEachStore } from './suite/stores.suite.ts';

const asking = { kind: 'builtin' as const, permission: 'ask' as const };
const selfHosted = { environment: { id: 'env_1', type: 'self_hosted' as const } };

onEachStore((openStore) => {
  it('[R20] a call that needs approval does not run before it: the session is idle and names the call', async () => {
    let runs = 0;
    const bash = { ...asking, run: () => (runs++, result('hi')) };
    const fleet = await openFleet({ store: await openStore(), tools: { bash } });
    const turns = [[{ call: 'bash' }], [{ expect: { tool_result: 'hi', is_error: false } }, { say: 'Done.' }]];
    const id = await fleet.begin(solo, { turns });
    const { seq } = await fleet.rest(id);
    const [use] = await fleet.payloads(id, 'agent.tool_use');
    expect(use).toMatchObject({ evaluated_permission: 'ask' });
    expect((await fleet.story(id)).slice(-4)).toEqual([
      'solo model_request_end',
      'solo thread_status_idle requires_action(1)',
      'session usage',
      'session status_idle requires_action(1)',
    ]);
    expect(await fleet.asks(id)).toEqual([use!.id]);
    expect(runs).toBe(0);
    await fleet.send(id, confirm(use!.id));
    await fleet.rest(id, seq);
    expect(runs).toBe(1);
    expect((await fleet.story(id, seq)).slice(0, 6)).toEqual([
      'solo user.tool_confirmation allow',
      'session status_running',
      'solo thread_status_running',
      'solo tool.started',
      'solo tool_result',
      'solo model_request_start',
    ]);
    expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
    expect(await fleet.payloads(id, 'run.started')).toHaveLength(1);
  });

  it('[R21] a denied call is not run; the thread runs again, and the model reads the reason', async () => {
    let runs = 0;
    const bash = { ...asking, run: () => (runs++, result('hi')) };
    const fleet = await openFleet({ store: await openStore(), tools: { bash } });
    const turns = [
      [{ call: 'bash' }],
      [{ expect: { tool_result: 'not on Fridays', is_error: true } }, { say: 'Fine.' }],
    ];
    const id = await fleet.begin(solo, { turns });
    const { seq } = await fleet.rest(id);
    const [ask] = await fleet.asks(id);
    await fleet.send(id, confirm(ask!, 'deny', 'not on Fridays'));
    await fleet.rest(id, seq);
    expect(runs).toBe(0);
    expect((await fleet.story(id, seq)).slice(0, 5)).toEqual([
      'solo user.tool_confirmation deny',
      'session status_running',
      'solo thread_status_running',
      'solo tool_result error',
      'solo model_request_start',
    ]);
    expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
  });

  it('[R22] after one of two approvals is decided, the session is idle again and names only the other', async () => {
    const fleet = await openFleet({ store: await openStore(), tools: { bash: asking } });
    for (const first of ['allow', 'deny'] as const) {
      const id = await fleet.begin(solo, { turns: [[{ call: 'bash' }, { call: 'bash' }], [{ say: 'Done.' }]] });
      const one = await fleet.rest(id);
      const asks = await fleet.asks(id);
      expect(asks).toHaveLength(2);
      await fleet.send(id, confirm(asks[0]!, first));
      const two = await fleet.rest(id, one.seq);
      expect(two.payload).toMatchObject({ stop_reason: { type: 'requires_action', event_ids: [asks[1]] } });
      expect((await fleet.story(id, one.seq)).slice(-3)).toEqual([
        'solo thread_status_idle requires_action(1)',
        'session usage',
        'session status_idle requires_action(1)',
      ]);
      await fleet.send(id, confirm(asks[1]!));
      const three = await fleet.rest(id, two.seq);
      expect(three.payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
    }
  });

  it('[R23] approvals that are decided in one request make the session run once', async () => {
    const fleet = await openFleet({ store: await openStore(), tools: { bash: asking } });
    const id = await fleet.begin(solo, { turns: [[{ call: 'bash' }, { call: 'bash' }], [{ say: 'Done.' }]] });
    const { seq } = await fleet.rest(id);
    const [one, two] = await fleet.asks(id);
    await fleet.send(id, confirm(one!), confirm(two!, 'deny'));
    await fleet.rest(id, seq);
    const story = await fleet.story(id, seq);
    expect(story.filter((line) => line === 'session status_running')).toHaveLength(1);
    expect(story.at(-1)).toBe('session status_idle end_turn');
    expect(story.filter((line) => line.startsWith('session status_idle'))).toHaveLength(1);
  });

  it('[R24] each answer that fits nothing is refused by its code, and nothing of the request is kept', async () => {
    const tools = { bash: asking, form: { kind: 'custom' as const }, free: { kind: 'builtin' as const } };
    const fleet = await openFleet({ store: await openStore(), tools });
    const turns = [[{ call: 'free' }, { call: 'bash' }, { call: 'bash' }, { call: 'form' }], [{ say: 'Done.' }]];
    const id = await fleet.begin(solo, { turns });
    await fleet.until(id, ({ type }) => type === 'session.status_idle');
    const [free, bash, other] = (await fleet.payloads(id, 'agent.tool_use')).map(({ id: use }) => use);
    const [form] = (await fleet.payloads(id, 'agent.custom_tool_use')).map(({ id: use }) => use);
    const refused = async (code: string, ...events: Parameters<Fleet['send']>[1][]) =>
      expect(fleet.send(id, ...events)).rejects.toMatchObject({ code, kind: 'caller' });
    const { seq } = await fleet.rest(id);
    await refused('unknown_tool_use', confirm('sevt_nothing'));
    await refused('unknown_tool_use', confirm(free!));
    await refused('unknown_tool_use', customResult('sevt_nothing', 'x'));
    await refused('wrong_answer', customResult(bash!, 'x'));
    await refused('wrong_answer', confirm(form!));
    await refused('not_self_hosted', workerResult(bash!, 'x'));
    await refused('already_answered', confirm(bash!), confirm(bash!, 'deny'));
    await refused('thread_not_found', confirm(bash!), interruption('sthr_nothing'));
    const claim = (index: number, thread: string, ...events: Parameters<Fleet['send']>[1][]) =>
      fleet.sessions.send({ workspaceId, sessionId: id, events, claimedThreads: new Map([[index, thread]]) });
    await expect(claim(1, 'sthr_other', message('Hi'), confirm(bash!))).rejects.toMatchObject({ code: 'wrong_thread' });
    await expect(fleet.send(id, message('Hi'), confirm('sevt_nothing'))).rejects.toThrow(/events\[1\]/);
    expect(await fleet.head(id)).toBe(seq);
    expect(await fleet.store.inputs.peek(id, 10)).toEqual([]);
    const { primary_thread_id: primary } = (await fleet.state(id)).created;
    await claim(0, primary, confirm(bash!));
    await fleet.until(id, ({ type }) => type === 'session.status_idle', seq);
    await refused('already_answered', confirm(bash!));
    expect(await fleet.asks(id)).toEqual([other, form]);
    await expect(fleet.sessions.send({ workspaceId, sessionId: 'sesn_none', events: [] })).rejects.toMatchObject({
      code: 'session_not_found',
    });
    await expect(fleet.sessions.send({ workspaceId: 'wrkspc_2', sessionId: id, events: [] })).rejects.toMatchObject({
      code: 'session_not_found',
    });
  });

  it('[R25] the client runs a custom tool, and its result reaches the model, also as an error', async () => {
    const fleet = await openFleet({ store: await openStore(), tools: { form: { kind: 'custom' } } });
    const expectations = { tool_result: 'no such form', is_error: true };
    const id = await fleet.begin(solo, {
      turns: [[{ call: 'form', input: { a: 1 } }], [{ expect: expectations }, { say: 'Pity.' }]],
    });
    const { seq } = await fleet.rest(id);
    const [use] = await fleet.payloads(id, 'agent.custom_tool_use');
    expect(use).toMatchObject({ name: 'form', input: { a: 1 } });
    expect(await fleet.asks(id)).toEqual([use!.id]);
    await fleet.send(id, customResult(use!.id, 'no such form', true));
    await fleet.rest(id, seq);
    expect((await fleet.story(id, seq)).slice(0, 4)).toEqual([
      'solo user.custom_tool_result',
      'session status_running',
      'solo thread_status_running',
      'solo model_request_start',
    ]);
    expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
    expect(await fleet.types(id)).not.toContain('agent.tool_result');
  });
});

it('[R26] a custom tool may be answered as soon as it is called, before the session is idle', async () => {
  const gate = createGate();
  const slow = { kind: 'builtin' as const, run: async () => (await gate.opened, result('slow')) };
  const fleet = await openFleet({ tools: { form: { kind: 'custom' }, slow } });
  const turns = [
    [{ call: 'form' }, { call: 'slow' }],
    [{ expect: { tool_result: ['filled', 'slow'] } }, { say: 'Done.' }],
  ];
  const id = await fleet.begin(solo, { turns });
  const use = await fleet.until(id, ({ type }) => type === 'agent.custom_tool_use');
  await fleet.send(id, customResult((use.payload as { id: string }).id, 'filled'));
  await fleet.until(id, ({ type }) => type === 'user.custom_tool_result');
  gate.open();
  await fleet.rest(id);
  expect((await fleet.story(id)).filter((line) => line.includes('requires_action'))).toEqual([]);
  expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
});

it('[R27] while another call runs the thread is running, and becomes idle as soon as only the client can continue it', async () => {
  const gate = createGate();
  const slow = { kind: 'builtin' as const, run: async () => (await gate.opened, result('slow')) };
  const fleet = await openFleet({ tools: { bash: asking, slow } });
  const id = await fleet.begin(solo, { turns: [[{ call: 'bash' }, { call: 'slow' }], [{ say: 'Done.' }]] });
  const started = await fleet.until(id, ({ type }) => type === 'tool.started');
  expect((await fleet.state(id)).status).toBe('running');
  gate.open();
  await fleet.rest(id, started.seq);
  expect(await fleet.story(id, started.seq)).toEqual([
    'solo tool_result',
    'solo thread_status_idle requires_action(1)',
    'session usage',
    'session status_idle requires_action(1)',
  ]);
});

it('[R28] in a self-hosted environment the worker runs tools that work on files: after the approval, it sends the result', async () => {
  const fleet = await openFleet({ tools: { bash: asking, read: { kind: 'builtin' }, web: { kind: 'mcp' } } });
  const turns = [
    [{ call: 'bash' }, { call: 'read' }, { call: 'web' }],
    [{ expect: { tool_result: ['shell', 'file', 'web ran'] } }, { say: 'Done.' }],
  ];
  const id = await fleet.begin(solo, { turns }, selfHosted);
  const { seq } = await fleet.rest(id);
  const [bash, read] = (await fleet.payloads(id, 'agent.tool_use')).map(({ id: use }) => use);
  expect(await fleet.payloads(id, 'agent.tool_use')).toMatchObject([{ runs_at: 'worker' }, { runs_at: 'worker' }]);
  expect(await fleet.asks(id)).toEqual([bash, read]);
  await expect(fleet.send(id, workerResult(bash!, 'x'))).rejects.toMatchObject({ code: 'wrong_answer' });
  await expect(fleet.send(id, confirm(read!))).rejects.toMatchObject({ code: 'wrong_answer' });
  await fleet.send(id, workerResult(read!, 'file'), confirm(bash!));
  const second = await fleet.rest(id, seq);
  expect(second.payload).toMatchObject({ stop_reason: { event_ids: [bash] } });
  await fleet.send(id, workerResult(bash!, 'shell'));
  expect((await fleet.rest(id, second.seq)).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  expect(await fleet.payloads(id, 'user.tool_result')).toMatchObject([{ tool_use_id: read }, { tool_use_id: bash }]);
  expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
});

it('[R29] calls that were denied are never given to a worker', async () => {
  const fleet = await openFleet({ tools: { bash: asking, off: { kind: 'builtin', isEnabled: false } } });
  const id = await fleet.begin(solo, { turns: [[{ call: 'bash' }, { call: 'off' }], [{ say: 'Done.' }]] }, selfHosted);
  const { seq } = await fleet.rest(id);
  const [bash, off] = (await fleet.payloads(id, 'agent.tool_use')).map(({ id: use }) => use);
  await expect(fleet.send(id, workerResult(off!, 'x'))).rejects.toMatchObject({ code: 'unknown_tool_use' });
  await fleet.send(id, confirm(bash!, 'deny'));
  await fleet.rest(id, seq);
  await expect(fleet.send(id, workerResult(bash!, 'x'))).rejects.toMatchObject({ code: 'wrong_answer' });
});

it('[R30] approvals of agents at any depth are decided by id alone, and the session names all of them', async () => {
  const fleet = await openFleet({ tools: { bash: asking, form: { kind: 'custom' } } });
  const bottom = { turns: [[{ call: 'bash' }], [{ expect: { tool_result: 'bash ran' } }, { say: 'bottom' }]] };
  const middle = {
    turns: [
      [{ call: 'form' }, delegates(bottom)],
      [{ expect: { tool_result: ['filled', 'bottom'] } }, { say: 'middle' }],
    ],
  };
  const turns = [
    [{ call: 'bash' }, delegates(middle)],
    [{ expect: { tool_result: 'middle' } }, { say: 'top' }],
  ];
  const id = await fleet.begin(lead, { turns }, { depthMax: 2 });
  const first = await fleet.rest(id);
  const asks = await fleet.asks(id);
  expect(asks).toHaveLength(3);
  const { threads } = await fleet.state(id);
  // A call that waits for a child with a pending approval waits for that approval too.
  expect(
    [...threads.values()].map(({ stop: { reason } }) => reason.type === 'requires_action' && reason.event_ids.length),
  ).toEqual([3, 2, 1]);
  const { items } = await fleet.store.approvals.list({ workspaceId, sessionId: id, isPending: true, limit: 10 });
  const byDepth = new Map(
    items.map(({ data, threadId }) => [threads.get(threadId)!.depth, data['tool_use_id'] as string]),
  );
  const [sent] = await fleet.send(id, confirm(byDepth.get(2)!));
  expect(sent!.threadId).toBe([...threads.values()][2]!.id);
  const second = await fleet.rest(id, first.seq);
  expect(second.payload).toMatchObject({ stop_reason: { event_ids: [byDepth.get(0), byDepth.get(1)] } });
  await fleet.send(id, customResult(byDepth.get(1)!, 'filled'), confirm(byDepth.get(0)!));
  expect((await fleet.rest(id, second.seq)).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: true, content: 'top' }]);
});

it('[R31] a pending approval survives the process, and can still be decided', async () => {
  const fleet = await openFleet({ tools: { bash: asking, form: { kind: 'custom' } } });
  const turns = [
    [{ call: 'bash' }, { call: 'form' }],
    [{ expect: { tool_result: ['bash ran', 'filled'] } }, { say: 'Done.' }],
  ];
  const id = await fleet.begin(solo, { turns });
  const { seq } = await fleet.rest(id);
  const [bash, form] = await fleet.asks(id);
  const next = await crash(fleet, ({ type }) => type === 'session.status_idle');
  await next.send(id, confirm(bash!), customResult(form!, 'filled'));
  expect((await next.rest(id, seq)).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  expect(await next.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
});
