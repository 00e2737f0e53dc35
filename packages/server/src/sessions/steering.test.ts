import { expect, it } from 'vitest';
import {
  begins,
  callsAgent,
  createTestPrograms,
  ends,
  opens,
  turnBegins,
} from './runtime/program/test-program.suite.ts';
import {
  agent,
  createGate,
  delegates,
  lead,
  message,
  openFleet,
  result,
  sends,
  snapshot,
} from './suite/fleet.suite.ts';
import { onEachStore } from './suite/stores.suite.ts';

function createWait() {
  const gate = createGate();
  const begun = createGate();
  const run = async () => {
    begun.open();
    await gate.opened;
    return result('waited');
  };
  return { gate, begun, wait: { kind: 'builtin' as const, run } };
}

const toThread = (threadId: string, text: string) => ({ ...message(text), thread_id: threadId });

onEachStore((openStore) => {
  it('[Z46] a running child reads a message before its next model request, and reports once', async () => {
    const { gate, begun, wait } = createWait();
    const fleet = await openFleet({ store: await openStore(), tools: { wait } });
    const task = {
      turns: [[{ call: 'wait' }], [{ expect: { contains: ['waited', 'Only the north.'] } }, { say: 'North.' }]],
    };
    const id = await fleet.begin(lead, {
      turns: [[delegates(task)], [{ expect: { contains: 'North.' } }, { say: 'Done.' }]],
    });
    await begun.opened;
    const child = [...(await fleet.state(id)).threads.keys()][1]!;
    await fleet.send(id, toThread(child, 'Only the north.'));
    await fleet.until(id, ({ type, threadId }) => type === 'user.message' && threadId === child);
    gate.open();
    await fleet.rest(id);
    const story = await fleet.story(id);
    expect(story.filter((line) => line.startsWith('worker user.message') || line === 'worker turn.started')).toEqual([
      'worker turn.started',
      'worker user.message queued',
      'worker user.message',
    ]);
    expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: true, content: 'Done.' }]);
  });

  it('[Z46] a message during the last response continues the same turn', async () => {
    const fleet = await openFleet({ store: await openStore() });
    const long = 'word '.repeat(40);
    const task = {
      turns: [[{ say: long, chunks: 40, every_ms: 20 }], [{ expect: { contains: 'Shorter!' } }, { say: 'Short.' }]],
    };
    const id = await fleet.begin(lead, {
      turns: [[delegates(task)], [{ expect: { contains: 'Short.' } }, { say: 'Done.' }]],
    });
    const { threadId } = await fleet.until(id, ({ type, turn }) => type === 'delta.text' && turn?.depth === 1);
    await fleet.send(id, toThread(threadId!, 'Shorter!'));
    await fleet.rest(id);
    expect((await fleet.payloads(id, 'turn.ended')).map(({ ok }) => ok)).toEqual([true, true]);
    expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: true }]);
  });

  it('[Z46] an idle thread starts a turn with it, and its report wakes the coordinator', async () => {
    const fleet = await openFleet({ store: await openStore() });
    const task = { turns: [[{ say: 'First.' }], [{ expect: { contains: 'Once more.' } }, { say: 'Second.' }]] };
    const id = await fleet.begin(lead, {
      turns: [
        [sends(task)],
        [{ say: 'Sent.' }],
        [{ say: 'One.' }],
        [{ expect: { contains: 'Second.' } }, { say: 'Two.' }],
      ],
    });
    await fleet.rest(id);
    const [primary, child] = [...(await fleet.state(id)).threads.keys()];
    let seq = await fleet.head(id);
    await fleet.send(id, toThread(child!, 'Once more.'));
    ({ seq } = await fleet.rest(id, seq));
    const runs = await fleet.payloads(id, 'run.ended');
    expect(runs).toMatchObject([{ ok: true }, { ok: true, content: 'Two.' }]);
    // To the coordinator by its id is as without one.
    await fleet.send(id, toThread(primary!, 'And you?'));
    await fleet.rest(id, seq);
    await expect(fleet.send(id, toThread('sthr_nobody', 'Hello?'))).rejects.toMatchObject({ code: 'thread_not_found' });
  });
});

it('[Z46] the sub-agents of a program get no messages of clients', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const model = { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' } as const;
  const id = await fleet.begin({ ...agent('main', [snapshot('worker')]), model }, 'Go.');
  const program = await programs.wait();
  const opened = { type: 'opened', key: 'main', conversation: 'c1', version: '1' } as const;
  program.emit(opened, turnBegins, begins(), callsAgent('t1'), ends(), opens('a', 't1'));
  await fleet.until(id, ({ type }) => type === 'session.thread_created');
  const child = [...(await fleet.state(id)).threads.keys()][1]!;
  await expect(fleet.send(id, toThread(child, 'Stop.'))).rejects.toMatchObject({ code: 'thread_not_steerable' });
});
