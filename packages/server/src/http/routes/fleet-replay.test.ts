import { createSlots, type FleetEvent, foldSlots, type SessionSlots } from '@fleetloom/protocol/fleet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLong, randomText, timeout } from '../../../../../test/support/seed.ts';
import { type FleetReader, type FleetServer, ofType, openFleetServer, parallel } from './fleet.suite.ts';

/** Many connections take long on a busy machine; the quick test run uses fewer. */
const patience = Math.max(timeout, 120_000);
const SHORT_MS = 5_000;

const gates = ['strict', 'live', 'off'] as const;
type Gate = (typeof gates)[number];

/** A finished run with all its events from the beginning. */
interface Recording {
  readonly path: string;
  readonly requestId: string;
  readonly events: Readonly<Record<Gate, readonly FleetEvent[]>>;
}

let fleet: FleetServer;
let recordings: Recording[];
beforeAll(async () => {
  fleet = await openFleetServer();
  await fleet.agent('talker', { turns: [[{ think: 'Hm.' }, { say: 'word '.repeat(10), chunks: 10, every_ms: 8 }]] });
  await fleet.agent('failing', { turns: [[{ fail: { status: 400 } }]] });
  await fleet.agent('shaky', { turns: [[{ say: 'half a ' }, { cut: true, times: 1 }, { say: 'thing' }]] });
  await fleet.agent('manager', { turns: [[{ say: '/agent talker go' }], [{ say: 'They said: {{last_user}}' }]] });
  const tasks = [
    { agent: 'talker', message: 'x' },
    { agent: 'shaky', message: 'y' },
  ];
  await fleet.agent('index', {
    turns: [
      [{ say: `Plan: I will ask.\n${parallel(['talker', 'a'], ['failing', 'b'], ['manager', 'c'])}` }],
      [{ say: 'And now by tool.' }, { call: 'delegate', input: { tasks } }],
      [{ say: 'Here is what I found: everything is fine.', every_ms: 5 }],
    ],
  });
  await fleet.agent('plain', { turns: [[{ say: 'Nothing to delegate here.', every_ms: 3 }]] });
  recordings = [await record('index'), await record('plain'), await record('failing')];
});
afterAll(async () => {
  await fleet.close();
  expect(fleet.problems).toEqual([]);
});

async function record(agent: string): Promise<Recording> {
  const live = await (await fleet.orchestrate({ agent, message: 'Go' })).all();
  const [received] = ofType(live, 'request_received');
  const path = `/v1/sessions/${received!.session_id}/fleet`;
  const [strict, whileLive, off] = await Promise.all(gates.map((gate) => replay(path, { gate })));
  // The client that started the run receives the same events as a later reader.
  expect(strict).toEqual(live);
  return { path, requestId: received!.request_id, events: { strict: strict!, live: whileLive!, off: off! } };
}

async function replay(path: string, query: Record<string, string>): Promise<FleetEvent[]> {
  return (await fleet.watch(path, { query: { follow: 'false', ...query } })).all();
}

function fold(events: readonly FleetEvent[], state = createSlots()): SessionSlots {
  return events.reduce(foldSlots, state);
}

describe('replay', () => {
  it('[V38] a stream after any event is the rest, and both parts together fold to the same state', {
    timeout: patience,
  }, async () => {
    for (const { path, events } of recordings) {
      for (const gate of gates) {
        const all = events[gate];
        const states = all.reduce<SessionSlots[]>((made, event) => {
          return [...made, foldSlots(made.at(-1) ?? createSlots(), event)];
        }, []);
        const whole = states.at(-1)!;
        expect(whole.gapCount).toBe(0);
        const rests = await Promise.all(all.map(({ cursor: after }) => replay(path, { gate, after })));
        for (const [index, rest] of rests.entries()) {
          // As text, because thousands of deep comparisons take minutes.
          expect(JSON.stringify(rest)).toBe(JSON.stringify(all.slice(index + 1)));
          const seen = states[index]!;
          expect(JSON.stringify(fold(rest, seen))).toBe(JSON.stringify(whole));
        }
      }
    }
  });

  it('[V41] readers that are disconnected anywhere and resume receive each event once', {
    timeout: patience,
  }, async () => {
    const random = randomText();
    const experiments = isLong ? 10_000 : 150;
    const deadline = performance.now() + (isLong ? Infinity : SHORT_MS);
    for (let at = 0; at < experiments && (at < 10 || performance.now() < deadline); at++) {
      const { path, requestId, events } = recordings[random.below(recordings.length)]!;
      const gate = gates[random.below(3)]!;
      const isByRequest = random.below(3) === 0;
      const place = isByRequest ? `/v1/requests/${requestId}/events` : path;
      const seen: FleetEvent[] = [];
      while (seen.at(-1)?.type !== 'done') {
        const last = seen.at(-1)?.cursor;
        const isHeader = random.below(2) === 0;
        const reader = await fleet.watch(place, {
          query: { gate, ...(last === undefined || isHeader ? {} : { after: last }) },
          headers: last !== undefined && isHeader ? { 'last-event-id': last } : {},
        });
        const more = 1 + random.below(events[gate].length);
        await reader.met(() => reader.events.length >= more || reader.events.some(({ type }) => type === 'done'));
        reader.kill();
        // Events of the last packet are dropped: the reader was disconnected before them.
        seen.push(...reader.events.slice(0, more));
      }
      expect(JSON.stringify(seen)).toBe(JSON.stringify(events[gate]));
    }
  });

  it('[V39] readers that join at any moment of a run with sixteen agents miss no event and get none twice', {
    timeout,
  }, async () => {
    const random = randomText();
    await fleet.agent('chatter', { turns: [[{ say: 'word '.repeat(40), chunks: 40, every_ms: 10 }]] });
    await fleet.agent('crowd', {
      turns: [
        [{ say: `Go.\n${parallel(...Array.from({ length: 16 }, () => ['chatter', 'talk'] as const))}` }],
        [{ say: 'Done.' }],
      ],
    });
    const rounds = isLong ? 25 : 2;
    for (let round = 0; round < rounds; round++) {
      const first = await fleet.orchestrate({ agent: 'crowd', message: 'Go' });
      const { session_id: id } = await first.untilType('request_received');
      const path = `/v1/sessions/${id}/fleet`;
      const readers: { reader: FleetReader; gate: Gate; after: string | undefined }[] = [];
      while (!first.isEnded && readers.length < 40) {
        await new Promise((resolve) => setTimeout(resolve, random.below(12)));
        const gate = gates[random.below(3)]!;
        // Only a reader of the same view knows its cursors.
        const last = first.events.at(-1);
        // No event follows the end, so there would be nothing to wait for.
        const isBehind = gate === 'strict' && last?.type !== 'done' && random.below(2) === 0;
        const after = isBehind ? last?.cursor : undefined;
        const reader = await fleet.watch(path, { query: { gate, ...(after === undefined ? {} : { after }) } });
        readers.push({ reader, gate, after });
      }
      const all = await first.all();
      expect(readers.length).toBeGreaterThan(2);
      for (const { reader, gate, after } of readers) {
        await reader.untilType('done');
        reader.kill();
        const whole = gate === 'strict' ? all : await replay(path, { gate });
        const from = after === undefined ? 0 : whole.findIndex(({ cursor }) => cursor === after) + 1;
        expect(JSON.stringify(reader.events)).toBe(JSON.stringify(whole.slice(from)));
      }
    }
  });

  it('[V44] a stream with follow=false ends after the events so far, and one with from=live begins there', async () => {
    const { path, events } = recordings[0]!;
    expect(await replay(path, { from: 'live' })).toEqual([]);
    const live = await fleet.watch(path, { query: { from: 'live' } });
    const sessionId = path.split('/')[3]!;
    const content = [{ type: 'text', text: 'Once more' }];
    await fleet.call('POST', `/v1/sessions/${sessionId}/events`, { events: [{ type: 'user.message', content }] });
    await live.untilType('done');
    live.kill();
    const all = await replay(path, {});
    expect(all.slice(0, events.strict.length)).toEqual(events.strict);
    expect(live.events).toEqual(all.slice(events.strict.length));
    expect(live.events[0]).toMatchObject({ type: 'request_received', message: 'Once more' });
    // Stream ids start at 0 in every run.
    expect(ofType(live.events, 'stream_start')[0]).toMatchObject({ stream_id: 0 });
  });

  it('[V45] a cursor that is invalid, or ahead of the stream, is refused', async () => {
    const { path } = recordings[1]!;
    for (const after of ['x', '1.2.3', '-1', '999999', '1e3']) {
      const { status, json } = await fleet.call('GET', `${path}?after=${after}`);
      expect([status, json.error.type]).toEqual([400, 'invalid_request_error']);
      expect((await fleet.call('GET', path, undefined, { 'last-event-id': after })).status).toBe(400);
    }
  });

  it('[V46] thinking is omitted unless requested', async () => {
    const { path, events } = recordings[0]!;
    expect(ofType(events.strict, 'thinking')).toEqual([]);
    const all = await replay(path, { include: 'thinking' });
    const thoughts = ofType(all, 'thinking').filter(({ stream_id }) => stream_id === 1);
    expect(thoughts[0]).toMatchObject({ delta: '' });
    expect(thoughts.map(({ delta }) => delta).join('')).toBe('Hm.');
    expect(all.filter(({ type }) => type !== 'thinking').map(({ type }) => type)).toEqual(
      (await replay(path, {})).map(({ type }) => type),
    );
  });
});

describe('requests', () => {
  it('[V47] a run can be read by its id and listed', async () => {
    const { requestId, events, path } = recordings[1]!;
    const all = events.strict;
    const { json } = await fleet.call('GET', `/v1/requests/${requestId}`);
    const last = all.at(-1)!;
    expect(json).toMatchObject({ request_id: requestId, state: 'completed', agent: 'plain', last_seq: last.seq });
    const list = (await fleet.call('GET', '/v1/requests?limit=100')).json;
    expect(list.data.find(({ request_id: id }: { request_id: string }) => id === requestId)).toEqual(json);
    const failed = await fleet.call('GET', `/v1/requests/${recordings[2]!.requestId}`);
    expect(failed.json).toMatchObject({ state: 'failed' });
    expect(path).toContain(json.session_id);
  });

  it.each([0, 1, 2])('[V122] recording %i is replayed exactly after the cursor of any event', async (index) => {
    const { requestId, events } = recordings[index]!;
    for (const gate of gates) {
      const all = events[gate];
      for (const [at, { cursor }] of all.entries()) {
        // The stream ends because the run has ended.
        expect(await since(requestId, cursor, gate)).toEqual(all.slice(at + 1));
      }
    }
  });

  it.each([0, 1, 2])('[V123] after the seq of any event recording %i is complete', async (index) => {
    const { requestId, events } = recordings[index]!;
    const all = events.strict;
    expect(new Set(all.map(({ seq }) => seq)).size).toBeLessThan(all.length);
    for (const { seq } of all) {
      const first = all.findIndex((event) => event.seq === seq);
      expect(await since(requestId, String(seq), 'strict')).toEqual(all.slice(first + 1));
    }
  });

  it.each(['', '-1', '1.', '.1', '1.2.3', '1e3', '0x1', '1 ', '１', '1234567890123456', 'cursor'])(
    '[V123] since_seq=%j is refused',
    async (value) => {
      const { requestId } = recordings[1]!;
      const query = new URLSearchParams({ since_seq: value });
      const { status, json } = await fleet.call('GET', `/v1/requests/${requestId}/events?${query}`);
      expect([status, JSON.stringify(json)]).toEqual([400, expect.stringContaining('since_seq')]);
    },
  );

  async function since(requestId: string, value: string, gate: Gate): Promise<FleetEvent[]> {
    const query = { since_seq: value, gate };
    return (await fleet.watch(`/v1/requests/${requestId}/events`, { query })).all();
  }

  it('[V48] an older run of a session is still found, and its stream has no event of the others', async () => {
    const { path, requestId, events } = recordings[1]!;
    const sessionId = path.split('/')[3]!;
    const live = await fleet.watch(path, { query: { from: 'live' } });
    const content = [{ type: 'text', text: 'Again' }];
    await fleet.call('POST', `/v1/sessions/${sessionId}/events`, { events: [{ type: 'user.message', content }] });
    const { request_id: newest } = await live.untilType('done');
    live.kill();
    expect((await fleet.call('GET', `/v1/requests/${requestId}`)).json).toMatchObject({ state: 'completed' });
    expect(await (await fleet.watch(`/v1/requests/${requestId}/events`)).all()).toEqual(events.strict);
    expect(await (await fleet.watch(`/v1/requests/${newest}/events`)).all()).toEqual(live.events);
  });
});
