import { expect, it } from 'vitest';
import {
  confirm,
  createGate,
  delegates,
  hang,
  interruption,
  lead,
  message,
  openFleet,
  result,
  says,
  sends,
  solo,
  workspaceId,
} from './suite/fleet.suite.ts';
import { onEachStore } from './suite/stores.suite.ts';

const ask = { kind: 'builtin' as const, permission: 'ask' as const };

onEachStore((openStore) => {
  it('[R120] a session is archived when it is idle, not while it runs; it stays readable, and is never written to', async () => {
    const fleet = await openFleet({ store: await openStore() });
    const id = await fleet.begin(solo, { turns: [[hang]] });
    await expect(fleet.sessions.archive(workspaceId, id)).rejects.toMatchObject({ code: 'session_running' });
    await expect(fleet.sessions.delete(workspaceId, id)).rejects.toMatchObject({ code: 'session_running' });
    await fleet.send(id, interruption());
    await fleet.rest(id);
    const archived = await fleet.sessions.archive(workspaceId, id);
    expect(archived).toMatchObject({ status: 'terminated', archivedAt: expect.any(Number) });
    const head = await fleet.head(id);
    expect(await fleet.sessions.archive(workspaceId, id)).toEqual(archived);
    expect((await fleet.story(id)).slice(-2)).toEqual(['solo thread_status_terminated', 'session status_terminated']);
    await expect(fleet.send(id, message('Hello?'))).rejects.toMatchObject({ code: 'session_archived' });
    await expect(fleet.sessions.update({ workspaceId, sessionId: id, title: 'x' })).rejects.toMatchObject({
      code: 'session_archived',
    });
    expect(await fleet.head(id)).toBe(head);
  });

  it('[R121] archiving a session ends its pending approvals: calls, turns and the run', async () => {
    const fleet = await openFleet({ store: await openStore(), tools: { ask } });
    const asking = { turns: [[{ call: 'ask' }]] };
    const id = await fleet.begin(lead, { turns: [[{ call: 'ask' }, delegates(asking)]] });
    const { seq } = await fleet.rest(id);
    const [first] = await fleet.asks(id);
    await fleet.sessions.archive(workspaceId, id);
    expect(await fleet.story(id, seq)).toEqual([
      'worker tool_result interrupted',
      'worker turn.ended cancelled',
      'worker thread_status_terminated',
      'lead tool_result interrupted',
      'lead tool_result interrupted',
      'lead turn.ended cancelled',
      'lead thread_status_terminated',
      'session run.ended cancelled',
      'session status_terminated',
    ]);
    await expect(fleet.send(id, confirm(first!))).rejects.toMatchObject({ code: 'session_archived' });
    const { items } = await fleet.store.approvals.list({ workspaceId, sessionId: id, isPending: true, limit: 10 });
    expect(items).toEqual([]);
  });

  it('[R122] a session can be archived or deleted as soon as a reader receives its idle status', async () => {
    const fleet = await openFleet({ store: await openStore() });
    const archived = await fleet.begin(solo, says('Hi'));
    await fleet.rest(archived);
    expect(await fleet.store.sessions.get(workspaceId, archived)).toMatchObject({ status: 'idle' });
    await fleet.sessions.archive(workspaceId, archived);
    const deleted = await fleet.begin(solo, says('Hi'));
    const tail = fleet.log.tail({ sessionId: deleted, after: 0 });
    const reading = tail.next();
    await fleet.rest(deleted);
    await fleet.sessions.delete(workspaceId, deleted);
    let end = await reading;
    while (end.done !== true) end = await tail.next();
    expect(end.value).toBe('deleted');
    await expect(fleet.send(deleted, message('Hello?'))).rejects.toMatchObject({ code: 'session_not_found' });
    await expect(fleet.sessions.archive(workspaceId, deleted)).rejects.toMatchObject({ code: 'session_not_found' });
    await expect(fleet.sessions.delete('wrkspc_2', archived)).rejects.toMatchObject({ code: 'session_not_found' });
    await fleet.sessions.delete(workspaceId, archived);
    expect(fleet.problems).toEqual([]);
  });

  it('[R123] an idle sub-thread is archived permanently, and a second time changes nothing; others are refused', async () => {
    const ended: string[] = [];
    const fleet = await openFleet({ store: await openStore(), onThreadEnd: (thread) => ended.push(thread) });
    const id = await fleet.begin(lead, {
      turns: [[sends({ turns: [[hang]] }), delegates(says('Fine.'))], [{ say: 'Done.' }]],
    });
    await fleet.until(id, ({ type, turn }) => type === 'turn.ended' && turn!.depth === 0);
    const [primary, running, resting] = [...(await fleet.state(id)).threads.keys()];
    const archive = (thread: string) => fleet.sessions.archiveThread(workspaceId, id, thread);
    await expect(archive(primary!)).rejects.toMatchObject({ code: 'thread_is_primary' });
    await expect(archive(running!)).rejects.toMatchObject({ code: 'thread_running' });
    await expect(archive('sthr_nothing')).rejects.toMatchObject({ code: 'thread_not_found' });
    await expect(fleet.sessions.archiveThread('wrkspc_2', id, resting!)).rejects.toMatchObject({
      code: 'session_not_found',
    });
    const archived = await archive(resting!);
    expect(archived).toMatchObject({ status: 'terminated', archivedAt: expect.any(Number) });
    expect(await archive(resting!)).toEqual(archived);
    expect(ended).toEqual([resting]);
    expect((await fleet.story(id)).filter((line) => line.includes('terminated'))).toEqual([
      'worker#2 thread_status_terminated',
    ]);
    await fleet.send(id, interruption());
    await fleet.rest(id);
    await fleet.sessions.archive(workspaceId, id);
    expect(await archive(resting!)).toEqual(archived);
    await expect(archive(running!)).rejects.toMatchObject({ code: 'session_archived' });
  });
});

it('[R124] archiving a child with a pending approval closes its call and reports to its parent', async () => {
  const fleet = await openFleet({ tools: { ask } });
  const expected = { tool_result: 'ERR: worker did not finish: its thread was archived' };
  const id = await fleet.begin(lead, {
    turns: [[delegates({ turns: [[{ call: 'ask' }]] })], [{ expect: expected }, { say: 'I see.' }]],
  });
  const { seq } = await fleet.rest(id);
  const [use] = await fleet.asks(id);
  const child = [...(await fleet.state(id)).threads.keys()][1]!;
  await fleet.sessions.archiveThread(workspaceId, id, child);
  await fleet.rest(id, seq);
  expect((await fleet.story(id, seq)).slice(0, 9)).toEqual([
    'worker tool_result interrupted',
    'worker thread_message_sent',
    'lead thread_message_received',
    'worker turn.ended cancelled',
    'worker thread_status_terminated',
    'session status_running',
    'lead thread_status_running',
    'lead tool_result error',
    'lead model_request_start',
  ]);
  await expect(fleet.send(id, confirm(use!))).rejects.toMatchObject({ code: 'approval_withdrawn' });
  expect((await fleet.payloads(id, 'turn.ended')).at(-1)).toMatchObject({ ok: true });
});

it('[R125] an update writes only changed fields; one that changes nothing writes nothing', async () => {
  const fleet = await openFleet();
  const id = await fleet.begin(solo, says('Hi'), { title: 'Old', metadata: { a: 1 } });
  const { seq } = await fleet.rest(id);
  const update = (changes: object) => fleet.sessions.update({ workspaceId, sessionId: id, ...changes });
  await update({ title: 'Old', metadata: { a: 1 }, agent: (same: unknown) => same });
  expect(await fleet.head(id)).toBe(seq);
  expect(await update({ title: 'New', metadata: { a: 1 } })).toMatchObject({
    data: { title: 'New', metadata: { a: 1 } },
  });
  await update({ title: null, metadata: { b: 2 } });
  expect(await fleet.payloads(id, 'session.updated')).toEqual([
    { id: expect.any(String), title: 'New' },
    { id: expect.any(String), title: null, metadata: { b: 2 } },
  ]);
});

it('[R126] an agent is changed while its session is idle, and the change applies from the next turn', async () => {
  const gate = createGate();
  const wait = { kind: 'builtin' as const, run: async () => (await gate.opened, result('waited')) };
  const fleet = await openFleet({ tools: { wait } });
  const id = await fleet.begin(solo, {
    turns: [[{ call: 'wait' }], [{ say: 'One.' }], [{ expect: { contains: 'Be kind.' } }, { say: 'Two.' }]],
  });
  const change = () =>
    fleet.sessions.update({ workspaceId, sessionId: id, agent: (agent) => ({ ...agent, system: 'Be kind.' }) });
  await fleet.until(id, ({ type }) => type === 'tool.started');
  await expect(change()).rejects.toMatchObject({ code: 'session_running' });
  expect(await fleet.sessions.update({ workspaceId, sessionId: id, title: 'While running' })).toMatchObject({
    status: 'running',
  });
  gate.open();
  const { seq } = await fleet.rest(id);
  await change();
  await fleet.send(id, message('Next'));
  await fleet.rest(id, seq);
  expect((await fleet.payloads(id, 'turn.ended')).map(({ ok }) => ok)).toEqual([true, true]);
});
