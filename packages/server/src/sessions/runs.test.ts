import { expect, it } from 'vitest';
import { sessionLimits } from './core/limits.ts';
import { runKey } from '../frames/run-key.ts';
import { message, openFleet, solo, workspaceId } from './suite/fleet.suite.ts';
import { onEachStore } from './suite/stores.suite.ts';

const create = { workspaceId, agent: solo, environment: { id: 'env_1', type: 'cloud' as const } };

onEachStore((openStore) => {
  it('[R210] a run is found by its own id, up to the limit', async () => {
    const fleet = await openFleet({ store: await openStore() });
    const id = await fleet.begin(solo, 'Hello');
    await fleet.rest(id);
    const started = (await fleet.frames(id)).find(({ type }) => type === 'run.started')!;
    expect(await fleet.store.keys.get(workspaceId, runKey(started.turn!.run))).toMatchObject({
      result: { session_id: id },
      expiresAt: started.time + sessionLimits.runKeyMs,
    });
  });

  it('[R211] a run that cannot begin is started and ended in the log, with its code, and the session is idle', async () => {
    const fleet = await openFleet({ store: await openStore() });
    const refusal = { code: 'unknown_agent', reason: 'there is no agent x', message: 'Go' };
    const { id, status } = await fleet.sessions.create({ ...create, refusal });
    expect(status).toBe('idle');
    // In one write: a crash cannot leave a run without an end.
    expect(fleet.store.writes.filter(({ type }) => type !== 'submit')).toHaveLength(1);
    expect(await fleet.story(id)).toEqual(['session created', 'session run.started', 'session run.ended error']);
    expect(await fleet.payloads(id, 'run.ended')).toMatchObject([
      { ok: false, code: 'unknown_agent', error: 'there is no agent x' },
    ]);
    const head = await fleet.head(id);
    await fleet.send(id, message('Hello'));
    await fleet.rest(id, head);
    expect(await fleet.payloads(id, 'run.ended')).toHaveLength(2);
  });

  it('[R212] a request under a key that is taken leaves nothing behind, neither a session nor events', async () => {
    const fleet = await openFleet({ store: await openStore() });
    const toKey = () => ({ key: 'once', expiresAt: Date.now() + 60_000, result: {} });
    const { id } = await fleet.sessions.create({ ...create, toKey });
    await expect(fleet.sessions.create({ ...create, toKey, events: [message('Hello')] })).rejects.toMatchObject({
      code: 'key_taken',
    });
    expect((await fleet.store.sessions.list({ workspaceId, limit: 10 })).items).toHaveLength(1);
    const events = [message('Hello')];
    await expect(fleet.sessions.send({ workspaceId, sessionId: id, events, toKey })).rejects.toMatchObject({
      code: 'key_taken',
    });
    expect(await fleet.store.inputs.peek(id, 10)).toEqual([]);
    expect(await fleet.types(id)).toEqual(['session.created']);
  });
});
