import { expect, it } from 'vitest';
import { createManualClock } from '../../../base/clock.ts';
import { sessionLimits } from '../../core/limits.ts';
import { createManualSchedule } from '../../../base/manual-schedule.suite.ts';
import type { Store } from '../../../store/store.ts';
import {
  delegates,
  type Fleet,
  hang,
  lead,
  message,
  openFleet,
  result,
  solo,
  workspaceId,
} from '../../suite/fleet.suite.ts';
import { onEachStore, openMemory } from '../../suite/stores.suite.ts';
import type { WorkspaceLocations } from '../../../nodes/workspace-locations.ts';

const environment = { id: 'env_1', type: 'cloud' as const };

/** Two processes on one store. */
async function openTwo(store: Store, more: object = {}): Promise<[Fleet, Fleet]> {
  const shared = {};
  return [
    await openFleet({ store, owner: 'one', shared, ...more }),
    await openFleet({ store, owner: 'two', shared, ...more }),
  ];
}

onEachStore((openStore) => {
  it('[P40] update, archive, archive of a thread and delete work through a process that does not own the session', async () => {
    const [one, two] = await openTwo(await openStore());
    const ownerOf = (sessionId: string) => one.store.leases.findOwner(sessionId);
    const id = await one.begin(lead, { turns: [[delegates('Help')], [{ say: 'Done.' }]] });
    await one.rest(id);
    const at = { workspaceId, sessionId: id };
    expect(await ownerOf(id)).toBe('one');
    expect(await two.sessions.update({ ...at, title: 'x' })).toMatchObject({ data: { title: 'x' } });
    const merge = (before: object) => ({ ...before, a: '1' });
    expect(await two.sessions.update({ ...at, metadata: merge })).toMatchObject({ data: { metadata: { a: '1' } } });
    expect(await two.payloads(id, 'session.updated')).toHaveLength(2);
    const child = [...(await two.state(id)).threads.keys()][1]!;
    expect(await two.sessions.archiveThread(workspaceId, id, child)).toMatchObject({ status: 'terminated' });
    expect(await one.payloads(id, 'session.thread_status_terminated')).toMatchObject([{ session_thread_id: child }]);
    expect(await ownerOf(id)).toBe('one');
    expect(await two.sessions.archive(workspaceId, id)).toMatchObject({ status: 'terminated' });
    expect(await one.store.sessions.get(workspaceId, id)).toMatchObject({ archivedAt: expect.any(Number) });
    await two.sessions.delete(workspaceId, id);
    expect(await two.store.sessions.get(workspaceId, id)).toBeUndefined();
    const other = await one.begin(solo, 'Hello');
    await one.rest(other);
    expect(await ownerOf(other)).toBe('one');
    await two.sessions.delete(workspaceId, other);
    expect(await one.store.sessions.get(workspaceId, other)).toBeUndefined();
    expect([one.problems, two.problems]).toEqual([[], []]);
  });

  it('[P41] a refusal of the owner is returned by every process, with the same code and message', async () => {
    const [one, two] = await openTwo(await openStore());
    const id = await one.begin(solo, { turns: [[hang]] });
    await one.until(id, ({ type }) => type === 'span.model_request_start');
    const [primary] = (await one.store.threads.list({ sessionId: id, limit: 1 })).items;
    const refusals = async ({ sessions }: Fleet) => {
      const tried = [
        sessions.archive(workspaceId, id),
        sessions.delete(workspaceId, id),
        sessions.archiveThread(workspaceId, id, primary!.id),
        sessions.archiveThread(workspaceId, id, 'sthr_nobody'),
        sessions.update({ workspaceId, sessionId: id, agent: (agent) => ({ ...agent, system: 'x' }) }),
      ];
      return (await Promise.allSettled(tried)).map((each) => (each.status === 'rejected' ? String(each.reason) : ''));
    };
    const here = await refusals(one);
    expect(here.map((text) => text !== '')).toEqual([true, true, true, true, true]);
    expect(await refusals(two)).toEqual(here);
    await two.send(id, { type: 'user.interrupt', session_thread_id: null });
    await two.rest(id);
  });

  it('[P42] concurrent changes of different metadata keys by two processes are both applied', async () => {
    const [one, two] = await openTwo(await openStore());
    const id = await one.begin(solo, 'Hello');
    await one.rest(id);
    const put = ({ sessions }: Fleet, key: string) =>
      sessions.update({ workspaceId, sessionId: id, metadata: (before) => ({ ...before, [key]: key }) });
    await Promise.all([put(one, 'a'), put(two, 'b'), put(two, 'c'), put(one, 'd'), put(two, 'e')]);
    const { data } = (await one.store.sessions.get(workspaceId, id))!;
    expect(data['metadata']).toEqual({ a: 'a', b: 'b', c: 'c', d: 'd', e: 'e' });
  });

  it('[P43] a client that sends through a node that is not the owner finds its events in the log once they are applied', async () => {
    const [one, two] = await openTwo(await openStore());
    const id = await one.begin(solo, 'Hello');
    await one.rest(id);
    for (const text of ['a', 'b', 'c']) {
      await two.send(id, message(text));
      await two.sessions.applyInputs(id);
      expect(await two.store.inputs.peek(id, 1)).toEqual([]);
      expect(JSON.stringify(await two.payloads(id, 'user.message'))).toContain(`"${text}"`);
    }
    await two.rest(id, await two.head(id).then((head) => head - 1));
  });
});

it('[P44] a session belongs to the process that created it, and a signal makes no other process open it', async () => {
  const store = await openMemory();
  const [one, two] = await openTwo(store);
  const ids = await Promise.all(Array.from({ length: 10 }, () => one.begin(solo, { turns: [[hang]] })));
  for (const sessionId of ids) {
    expect(await store.leases.acquire({ sessionId, owner: 'other', ttlMs: 1 })).toMatchObject({ owner: 'one' });
  }
  const rested = await two.begin(solo, 'Hello');
  await two.rest(rested);
  expect(await store.leases.acquire({ sessionId: rested, owner: 'other', ttlMs: 1 })).toMatchObject({ owner: 'two' });
  for (const id of ids) {
    await two.send(id, { type: 'user.interrupt', session_thread_id: null });
    await two.rest(id);
  }
});

it('[P45] a process that was suspended for longer than its lease runs no tool, and stops its work', async () => {
  const clock = createManualClock(1_000);
  const time = createManualSchedule(clock);
  const store = await openMemory(clock);
  let ran = 0;
  let thaw = () => {};
  const frozen = new Promise<void>((resolve) => {
    thaw = resolve;
  });
  let isWaiting = false;
  const one = await openFleet({
    store,
    clock,
    schedule: time.schedule,
    owner: 'one',
    shared: {},
    tools: { touch: { kind: 'builtin', run: () => ((ran += 1), result('done')) } },
    onWorkspace: async () => {
      isWaiting = true;
      await frozen;
    },
    isChecked: false,
  });
  const id = await one.begin(solo, { turns: [[{ call: 'touch', input: {} }], [{ say: 'end' }]] });
  await expect.poll(() => isWaiting).toBe(true);
  clock.advance(sessionLimits.sharedLeaseMs);
  thaw();
  await expect.poll(() => one.problems).toMatchObject([{ code: 'stale_owner' }]);
  expect(ran).toBe(0);
  // No other process has acquired it; the next owner reports to the agent that its tool was cut off.
  const two = await openFleet({ store, clock, schedule: time.schedule, owner: 'two', shared: {} });
  await two.until(id, ({ type }) => type === 'agent.tool_result');
  await two.rest(id);
  expect(ran).toBe(0);
});

it('[P46] each process adopts its share of the sessions without an owner, and no more than it has room for', async () => {
  const clock = createManualClock(1_000);
  const time = createManualSchedule(clock);
  const store = await openMemory(clock);
  const first = await openFleet({ store, clock, schedule: time.schedule, owner: 'first', shared: {} });
  const ids = await Promise.all(Array.from({ length: 30 }, () => first.begin(solo, { turns: [[hang]] })));
  await first.close();
  const owned = async () => {
    const all = ids.map((sessionId) => store.leases.acquire({ sessionId, owner: 'none', ttlMs: 0 }));
    return (await Promise.all(all)).filter((lease) => !lease.ok).length;
  };
  const shared = { countNodes: () => 3, busySessionsMax: 12 };
  const next = await openFleet({ store, clock, schedule: time.schedule, owner: 'next', shared, random: Math.random });
  await expect.poll(owned).toBe(10);
  time.advance(sessionLimits.sharedTickMs);
  await expect.poll(owned).toBe(12);
  time.advance(sessionLimits.sharedTickMs);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await owned()).toBe(12);
  await next.close();
  const last = await openFleet({ store, clock, schedule: time.schedule, owner: 'last', shared: {} });
  await expect.poll(owned).toBe(30);
  for (const id of ids) await last.send(id, { type: 'user.interrupt', session_thread_id: null });
  for (const id of ids) await last.rest(id);
});

it('[P47] a session whose workspace is elsewhere is left alone; when that is lost, its turn ends with workspace_lost', async () => {
  const store = await openMemory();
  let at: Awaited<ReturnType<WorkspaceLocations['find']>> = 'none';
  const settled: string[] = [];
  const locations: WorkspaceLocations = {
    find: async () => at,
    settle: async (sessionId) => void settled.push(sessionId),
    leave: async () => {
      at = 'none';
    },
    isHere: async () => false,
  };
  const tools = { touch: { kind: 'builtin' as const, run: () => new Promise<never>(() => {}) } };
  const one = await openFleet({ store, owner: 'one', shared: { locations, handOverToolsMs: 0 }, tools });
  const id = await one.begin(solo, { turns: [[{ call: 'touch', input: {} }], [{ say: 'again' }]] });
  await expect.poll(() => settled).toEqual([id]);
  at = 'elsewhere';
  await one.sessions.close();
  const two = await openFleet({ store, owner: 'two', shared: { locations, tickMs: 20 } });
  const head = await two.head(id);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await two.head(id)).toBe(head);
  at = 'lost';
  await two.rest(id, head);
  expect(await two.payloads(id, 'session.error')).toMatchObject([
    { error: { reason: 'workspace_lost' }, retry: 'exhausted' },
  ]);
  expect(await two.payloads(id, 'turn.ended')).toMatchObject([{ stop_reason: 'error' }]);
  expect(at).toBe('none');
  const before = await two.head(id);
  await two.send(id, message('Go on'));
  await two.rest(id, before);
  expect(await two.payloads(id, 'turn.ended')).toHaveLength(2);
}, 20_000);

it('[P48] a process that stops lets a running tool finish, and another process continues after it', async () => {
  const store = await openMemory();
  let finish = () => {};
  let began = 0;
  const touch = {
    kind: 'builtin' as const,
    run: () => {
      began += 1;
      return new Promise<ReturnType<typeof result>>((resolve) => {
        finish = () => resolve(result('whole'));
      });
    },
  };
  const one = await openFleet({ store, owner: 'one', shared: {}, tools: { touch } });
  const id = await one.begin(solo, { turns: [[{ call: 'touch', input: {} }], [{ say: 'end' }]] });
  await expect.poll(() => began).toBe(1);
  const closing = one.sessions.close();
  setTimeout(finish, 100);
  await closing;
  const two = await openFleet({ store, owner: 'two', shared: {}, tools: { touch } });
  await two.rest(id);
  expect(await two.payloads(id, 'agent.tool_result')).toMatchObject([
    { content: [{ text: 'whole' }], is_error: false },
  ]);
  expect(began).toBe(1);
});

it('[P49] a command waits at most for its limit, and the error states that it may be repeated', async () => {
  const store = await openMemory();
  const two = await openFleet({ store, owner: 'two', shared: {}, ownerWaitMs: 30 });
  const { id } = await two.sessions.create({ workspaceId, agent: solo, environment });
  const silent = await store.leases.acquire({ sessionId: id, owner: 'silent', ttlMs: 60_000 });
  expect(silent.ok).toBe(true);
  await expect(two.sessions.archive(workspaceId, id)).rejects.toMatchObject({
    code: 'session_elsewhere',
    message: expect.stringContaining('repeat it in a moment'),
  });
  expect(sessionLimits.ownerWaitMs).toBeGreaterThan(sessionLimits.sharedLeaseMs + 2 * sessionLimits.sharedTickMs);
});

it('[P46] sessions that wait for the node with their workspace do not keep other sessions from being found', async () => {
  const store = await openMemory();
  const first = await openFleet({ store, owner: 'first', shared: {} });
  const stuck = await Promise.all(Array.from({ length: 5 }, () => first.begin(solo, { turns: [[hang]] })));
  const free = await first.begin(solo, { turns: [[hang]] });
  await first.close();
  let asked = 0;
  const locations: WorkspaceLocations = {
    find: async (sessionId) => {
      if (sessionId === free) return 'none';
      asked += 1;
      return 'elsewhere';
    },
    settle: async () => {},
    leave: async () => {},
    isHere: async () => false,
  };
  // One of six at a time: after a few looks only the one is left that can be taken.
  const shared = { locations, countNodes: () => 6, tickMs: 10 };
  const next = await openFleet({ store, owner: 'next', shared, random: Math.random });
  await next.until(free, ({ type }) => type === 'session.status_rescheduled');
  expect(asked).toBeLessThanOrEqual(stuck.length);
  await next.close();
  const last = await openFleet({ store, owner: 'last', shared: {} });
  for (const id of [...stuck, free]) {
    await last.send(id, { type: 'user.interrupt', session_thread_id: null });
    await last.rest(id);
  }
});
