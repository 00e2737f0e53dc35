import { expect, it } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { createIds } from '../../../base/ids.ts';
import { sessionLimits } from '../../core/limits.ts';
import { StoredFrame } from '../../../store/frame.ts';
import type { Store } from '../../../store/store.ts';
import { codeOf } from '../../../store/suite/samples.suite.ts';
import { sessionOf } from '../../../store/write.ts';
import {
  confirm,
  delegates,
  type Fleet,
  hang,
  lead,
  message,
  openFleet,
  says,
  snapshot,
  solo,
  workspaceId,
} from '../../suite/fleet.suite.ts';
import { onEachStore } from '../../suite/stores.suite.ts';
import { forkSession } from './fork-session.ts';

const ask = { push: { kind: 'builtin' as const, permission: 'ask' as const } };

async function forkAt(fleet: Fleet, sourceId: string, upTo?: number): Promise<string> {
  return (await fleet.sessions.fork({ workspaceId, sourceId, upTo })).id;
}

/** For each frame of a session: the last frame, except deltas, of the commits up to the one with this frame. */
function lastsOf({ store }: Fleet, id: string): number[] {
  const lasts: number[] = [];
  let last = 0;
  for (const write of store.writes) {
    if (sessionOf(write) !== id || write.type === 'submit' || write.type === 'delete') continue;
    const { length } = lasts;
    write.frames.forEach(({ bytes }, index) => {
      const { type } = new StoredFrame(id, 0, bytes).value;
      if (!type.startsWith('delta.')) last = length + index + 1;
    });
    lasts.push(...write.frames.map(() => last));
  }
  return lasts;
}

onEachStore((openStore) => {
  it('[R260] a fork has everything up to a moment, goes its own way from there, and the other hears nothing of it', async () => {
    const fleet = await openFleet({ store: await openStore() });
    const id = await fleet.begin(solo, { turns: [[{ say: 'One.' }], [{ say: 'You said {{last_user}}' }]] });
    await fleet.rest(id);
    const cut = await fleet.head(id);
    await fleet.send(id, message('two'));
    await fleet.rest(id, cut);
    const before = await fleet.frames(id);

    const fork = await fleet.sessions.fork({ workspaceId, sourceId: id, upTo: cut, title: 'Another way' });
    expect(fork).toMatchObject({ status: 'idle', data: { title: 'Another way' } });
    const [first] = await fleet.payloads(fork.id, 'session.created');
    expect(first!.forked_from).toEqual({ session_id: id, seq: cut });
    expect((await fleet.payloads(fork.id, 'user.message')).length).toBe(1);
    expect((await fleet.state(fork.id)).usage).toEqual((await fleet.payloads(id, 'session.usage'))[0]!.usage);
    const head = await fleet.head(fork.id);
    await fleet.send(fork.id, message('three'));
    await fleet.rest(fork.id, head);
    const said = (await fleet.payloads(fork.id, 'agent.message')).flatMap(({ content }) =>
      content.map(({ text }) => text),
    );
    expect(said).toEqual(['One.', 'You said three']);
    expect(await fleet.frames(id)).toEqual(before);
  });
});

it.for([
  ['', systemClock],
  [', also if everything happened in one millisecond', { ...systemClock, now: (): number => 1_800_000_000_000 }],
] as const)(
  '[R261] wherever a run is cut, its fork is idle, needs no approval, runs nothing again, and accepts messages%s',
  async ([, clock]) => {
    let pushes = 0;
    const push = {
      ...ask.push,
      run: () => (pushes++, { content: [{ type: 'text' as const, text: 'pushed' }], isError: false }),
    };
    const fleet = await openFleet({ tools: { push }, clock });
    const worker = { turns: [[{ call: 'push' }], [{ say: 'Done.' }]] };
    const id = await fleet.begin(lead, { turns: [[delegates(worker, worker)], [{ say: 'All done.' }]] });
    await fleet.rest(id);
    for (const toolUseId of await fleet.asks(id)) await fleet.send(id, confirm(toolUseId));
    await fleet.until(id, ({ type }) => type === 'run.ended');
    const head = await fleet.rest(id, (await fleet.until(id, ({ type }) => type === 'run.ended')).seq);
    const ran = pushes;
    const lasts = lastsOf(fleet, id);
    for (let upTo = 1; upTo <= head.seq; upTo++) {
      const fork = await forkAt(fleet, id, upTo);
      const state = await fleet.state(fork);
      expect([upTo, state.status, await fleet.asks(fork)]).toEqual([upTo, 'idle', []]);
      // Without a program, an answer is applied when it is logged (R362).
      expect([upTo, await fleet.payloads(fork, 'answer.not_applied')]).toEqual([upTo, []]);
      expect(
        (await fleet.store.approvals.list({ workspaceId, limit: 100 })).items.filter((each) => each.sessionId === fork),
      ).toEqual([]);
      const [first] = await fleet.payloads(fork, 'session.created');
      expect([upTo, first!.forked_from]).toEqual([upTo, { session_id: id, seq: lasts[upTo - 1] }]);
      const from = await fleet.head(fork);
      await fleet.send(fork, message(says('Still here.')));
      await fleet.rest(fork, from);
      const asked = (await fleet.frames(fork)).filter(
        ({ seq, type }) => seq > from && type === 'span.model_request_end',
      );
      expect([upTo, asked.length > 0]).toEqual([upTo, true]);
    }
    expect(pushes).toBe(ran);
  },
);

it('[R261] a model request that was open at the cursor is not repeated', async () => {
  const fleet = await openFleet();
  const id = await fleet.begin(solo, { turns: [[{ say: 'Wait' }, hang]] });
  await fleet.until(id, ({ type }) => type === 'span.model_request_start');
  const fork = await forkAt(fleet, id);
  expect((await fleet.state(fork)).status).toBe('idle');
  expect((await fleet.state(id)).status).toBe('running');
  expect((await fleet.payloads(fork, 'span.model_request_start')).length).toBe(1);
});

it('[R262] a fork can continue as another agent', async () => {
  const fleet = await openFleet();
  const id = await fleet.begin(solo, says('One.'));
  await fleet.rest(id);
  const other = snapshot('other', { system: 'Be brief.' });
  const agent = () => ({ ...other, multiagent: null });
  const fork = await fleet.sessions.fork({ workspaceId, sourceId: id, agent });
  expect(fork).toMatchObject({ agentId: 'agent_other', data: { agent: { name: 'other', system: 'Be brief.' } } });
});

it('[R263] a fork of a terminated session, of an unknown position, or larger than one write can hold is refused', async () => {
  const fleet = await openFleet();
  const id = await fleet.begin(solo, says('One.'));
  await fleet.rest(id);
  expect(await codeOf(forkAt(fleet, 'sesn_none'))).toBe('session_not_found');
  expect(await codeOf(forkAt(fleet, id, 0))).toBe('not_forkable');
  const size = { of: 0 };
  const read: Store['read'] = async (request) => {
    const entries = await fleet.store.read(request);
    const kept = entries.filter((entry) => entry.kind === 'frame' && !entry.value.type.startsWith('delta.'));
    const [first] = kept as [StoredFrame];
    const rest = kept.slice(1).reduce((sum, entry) => sum + (entry as StoredFrame).bytes.length, 0);
    // As if the first one were so large that all together are just what is wanted.
    const large = {
      kind: 'frame',
      seq: 1,
      lastSeq: 1,
      value: first?.value,
      bytes: new Uint8Array(Math.max(0, size.of - rest)),
    };
    return entries.map((entry) => (entry === first ? (large as unknown as StoredFrame) : entry));
  };
  const ids = createIds({ now: systemClock.now, random: Math.random });
  const models = { windowTokens: () => 1 };
  const forkOf = (bytes: number) => {
    size.of = bytes;
    return forkSession(
      { store: { read }, log: fleet.log, clock: systemClock, ids, models },
      { workspaceId, sourceId: id },
    );
  };
  expect(await codeOf(forkOf(sessionLimits.forkBytesMax + 1))).toBe('not_forkable');
  expect((await forkOf(sessionLimits.forkBytesMax)).status).toBe('idle');
  await fleet.sessions.archive(workspaceId, id);
  expect(await codeOf(forkAt(fleet, id))).toBe('not_forkable');
});
