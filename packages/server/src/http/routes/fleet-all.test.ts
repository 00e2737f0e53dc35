import {
  createFleet,
  type Fleet,
  type FleetEvent,
  findSession,
  foldFleet,
  foldSlots,
  createSlots,
} from '@fleetloom/protocol/fleet';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { randomText, isLong, timeout } from '../../../../../test/support/seed.ts';
import { type FleetReader, type FleetServer, ofType, openFleetServer, parallel } from './fleet.suite.ts';

let fleet: FleetServer;
beforeEach(async () => {
  fleet = await openFleetServer();
  await fleet.agent('echo');
  await fleet.agent('talker', { turns: [[{ say: 'word '.repeat(30), chunks: 30, every_ms: 5 }]] });
  await fleet.agent('hanging', { turns: [[{ say: 'begun ' }, { sleep_ms: 60_000 }]] });
  const block = parallel(['talker', 'a'], ['talker', 'b']);
  await fleet.agent('index', { turns: [[{ say: `Plan.\n${block}` }], [{ say: 'Done.' }]] });
});
afterEach(async () => {
  await fleet.close();
  expect(fleet.problems).toEqual([]);
});

/** Runs a request to its end. */
async function run(agent: string): Promise<{ id: string; events: FleetEvent[] }> {
  const events = await (await fleet.orchestrate({ agent, message: 'Go' })).all();
  return { id: ofType(events, 'request_received')[0]!.session_id, events };
}

async function begin(agent: string): Promise<{ id: string; requestId: string; reader: FleetReader }> {
  const reader = await fleet.orchestrate({ agent, message: 'Go' });
  const { session_id: id, request_id: requestId } = await reader.untilType('request_received');
  return { id, requestId, reader };
}

function fold(events: readonly FleetEvent[], state: Fleet = createFleet()): Fleet {
  return events.reduce(foldFleet, state);
}

/** Compares the folded state with that of each session's own stream. */
async function expectWhole(state: Fleet, ids: readonly string[], gate = 'strict'): Promise<void> {
  for (const id of ids) {
    const query = { follow: 'false', gate };
    const alone = await (await fleet.watch(`/v1/sessions/${id}/fleet`, { query })).all();
    expect(JSON.stringify(findSession(state, id))).toBe(JSON.stringify(alone.reduce(foldSlots, createSlots())));
  }
}

const isDone = (id: string) => (event: FleetEvent) => event.type === 'done' && event.session_id === id;

describe('all sessions on one stream', () => {
  it('[V70] new sessions appear on the stream, each with its own cursors, however their events interleave', async () => {
    const all = await fleet.watch('/v1/fleet');
    const runs = await Promise.all(['index', 'talker', 'index', 'echo'].map(run));
    for (const { id } of runs) await all.until(isDone(id));
    all.kill();
    for (const { id, events } of runs) {
      expect(all.events.filter((event) => event.session_id === id)).toEqual(events);
    }
    expect(all.events).toHaveLength(runs.reduce((sum, { events }) => sum + events.length, 0));
    expect(all.events.every(({ session_id: id }) => id !== undefined)).toBe(true);
  });

  it('[V71] a reader that joins later receives open runs from their beginning, and recently ended ones', async () => {
    const { id: over } = await run('echo');
    const { id, reader } = await begin('hanging');
    await reader.until((event) => event.type === 'text' || event.type === 'agent_start');
    const all = await fleet.watch('/v1/fleet', { query: { gate: 'off' } });
    await all.until((event) => event.session_id === id && event.type === 'text');
    await all.until(isDone(over));
    await expectWhole(fold(all.events.filter((event) => event.session_id === over)), [over], 'off');
    expect(all.events.filter((event) => event.session_id === id)[0]).toMatchObject({ type: 'request_received' });
    all.kill();
    reader.kill();
    const live = await fleet.watch('/v1/fleet', { query: { from: 'live' } });
    const next = await run('echo');
    await live.until(isDone(next.id));
    live.kill();
    expect(live.events).toEqual(next.events);
  });

  it('[V72] a session that was idle and begins another run continues on the stream', async () => {
    const { id } = await run('echo');
    const all = await fleet.watch('/v1/fleet', { query: { from: 'live' } });
    for (const text of ['one', 'two', 'three']) {
      const events = [{ type: 'user.message', content: [{ type: 'text', text }] }];
      await fleet.call('POST', `/v1/sessions/${id}/events`, { events });
      await all.met(() => ofType(all.events, 'request_received').some(({ message }) => message === text));
      await all.met(() => ofType(all.events, 'done').length === ofType(all.events, 'request_received').length);
    }
    all.kill();
    expect(ofType(all.events, 'request_received').map(({ message }) => message)).toEqual(['one', 'two', 'three']);
    expect(ofType(all.events, 'done').map(({ ok }) => ok)).toEqual([true, true, true]);
  });

  it('[V73] a reader that is disconnected anywhere and resumes folds to the same state as without the interruption', {
    timeout,
  }, async () => {
    const random = randomText();
    for (let round = 0; round < (isLong ? 60 : 3); round++) {
      const started = await fleet.watch('/v1/fleet', { query: { from: 'live' } });
      await started.met(() => started.lastId !== '');
      let after = started.lastId;
      started.kill();
      let state = createFleet();
      const running = Promise.all(Array.from({ length: 5 }, () => run(random.below(2) === 0 ? 'index' : 'talker')));
      const runs = { ids: [] as string[], isOver: false };
      void running.then((all) => {
        runs.ids = all.map(({ id }) => id);
        runs.isOver = true;
      });
      const hasAll = () => runs.isOver && runs.ids.every((id) => findSession(state, id)?.runs.at(-1)?.state === 'ok');
      for (let connection = 0; !hasAll(); connection++) {
        const reader = await fleet.watch(
          '/v1/fleet',
          connection % 2 === 0 ? { query: { after } } : { headers: { 'last-event-id': after } },
        );
        const more = 1 + random.below(60);
        const limit = new Promise((resolve) => setTimeout(resolve, 150));
        await Promise.race([reader.met(() => reader.events.length >= more), limit]);
        reader.kill();
        // Events after the last id are sent again, and change nothing.
        state = fold(reader.events, state);
        after = reader.lastId === '' ? after : reader.lastId;
      }
      expect(state.sessions.map(({ gapCount }) => gapCount)).toEqual(state.sessions.map(() => 0));
      await expectWhole(state, runs.ids);
    }
  });

  it('[V74] the end of a deleted session is emitted, also to a reader that was disconnected at the time', async () => {
    const all = await fleet.watch('/v1/fleet');
    const { id } = await run('echo');
    await all.until(isDone(id));
    await all.met(() => all.lastId.includes(id.slice('sesn_'.length)));
    const { id: other } = await run('echo');
    await all.until(isDone(other));
    const away = all.lastId;
    await fleet.call('DELETE', `/v1/sessions/${id}`);
    expect(await all.until(({ type }) => type === 'over')).toMatchObject({ session_id: id });
    const again = await fleet.watch('/v1/fleet', { query: { after: away } });
    expect(await again.until(({ type }) => type === 'over')).toMatchObject({ session_id: id });
    again.kill();
    // The stream continues with other sessions.
    const next = await run('echo');
    await all.until(isDone(next.id));
    all.kill();
  });

  it('[V75] a stream with follow=false ends after the events so far, with an id to resume from', async () => {
    const { id } = await run('talker');
    const { id: open, requestId, reader } = await begin('hanging');
    await reader.untilType('agent_start');
    const now = await fleet.watch('/v1/fleet', { query: { follow: 'false' } });
    const events = await now.all();
    expect(new Set(events.map(({ session_id: of }) => of))).toEqual(new Set([id, open]));
    await fleet.call('POST', `/v1/requests/${requestId}/cancel`);
    const rest = await (await fleet.watch('/v1/fleet', { query: { follow: 'false', after: now.lastId } })).all();
    await expectWhole(fold([...events, ...rest]), [id, open]);
    expect(rest.some(isDone(open))).toBe(true);
    expect(rest.every((event) => event.session_id === open)).toBe(true);
  });

  it('[V76] an invalid id is refused', async () => {
    for (const after of ['7', 'all', 'all~', 'all~x~', 'all~1~a.b.c', `all~1${'~a.1.'.repeat(257)}`]) {
      const { status, json } = await fleet.call('GET', `/v1/fleet?after=${after}`);
      expect([after.slice(0, 20), status, json.error.type]).toEqual([after.slice(0, 20), 400, 'invalid_request_error']);
    }
  });

  it('[V77] needs a key if the server has keys', async () => {
    const other = await openFleetServer({ isOpen: false });
    expect((await other.call('GET', '/v1/fleet')).status).toBe(401);
    const headers = { 'x-api-key': other.server.firstKey! };
    expect(await (await other.watch('/v1/fleet', { headers, query: { follow: 'false' } })).all()).toEqual([]);
    await other.close();
  });
});
