import { createSlots, type FleetEvent, foldSlots } from '@fleetloom/protocol/fleet';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isLong, randomText, timeout } from '../../../../../test/support/seed.ts';
import { ofType, parallel, textOf } from './fleet.suite.ts';
import { type FleetProcesses, openFleetProcesses } from './fleet-process.suite.ts';

let processes: FleetProcesses;
beforeAll(async () => {
  processes = await openFleetProcesses();
});
afterAll(() => processes.close());

it('[V40] after kill -9 the same events are sent again, and the run continues to its only end', {
  timeout: Math.max(timeout, 120_000),
}, async () => {
  const random = randomText();
  for (let round = 0; round < (isLong ? 100 : 2); round++) {
    const directory = processes.directory(String(round));
    let fleet = await processes.start(directory);
    await fleet.agent('talker', { turns: [[{ say: 'word '.repeat(40), chunks: 40, every_ms: 8 }]] });
    const block = parallel(['talker', 'a'], ['talker', 'b'], ['talker', 'c'], ['talker', 'd']);
    await fleet.agent('index', { turns: [[{ say: `Plan.\n${block}` }], [{ say: 'Done.' }]] });
    const first = await fleet.orchestrate({ agent: 'index', message: 'Go' }, { query: { gate: 'live' } });
    const { session_id: id } = await first.untilType('request_received');
    const moment = 1 + random.below(60);
    await first.met(() => first.events.length >= moment);
    await fleet.kill();
    await first.ended;
    const seen = first.events;

    fleet = await processes.start(directory);
    const path = `/v1/sessions/${id}/fleet`;
    const reader = await fleet.watch(path, { query: { gate: 'live' } });
    await reader.untilType('done');
    reader.kill();
    const rest = await fleet.watch(path, { query: { gate: 'live', after: seen.at(-1)!.cursor } });
    await rest.untilType('done');
    rest.kill();
    const all = reader.events;
    expect(all.slice(0, seen.length)).toEqual(seen);
    expect(rest.events).toEqual(all.slice(seen.length));
    expect(ofType(all, 'done')).toMatchObject([{ ok: true, content: 'Done.' }]);
    const ends = ofType(all, 'stream_end').map(({ stream_id }) => stream_id);
    expect([ends.length, new Set(ends)]).toEqual([5, new Set([0, 1, 2, 3, 4])]);
    for (const streamId of [1, 2, 3, 4]) expect(textOf(all, streamId)).toBe('word '.repeat(40));
    expect(all.reduce((state, event: FleetEvent) => foldSlots(state, event), createSlots()).gapCount).toBe(0);
    await fleet.kill();
  }
});
