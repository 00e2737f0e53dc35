import { expect, it } from 'vitest';
import { sessionLimits } from './core/limits.ts';
import { storeLimits } from '../store/limits.ts';
import { createGate, type Fleet, lead, message, openFleet, result, sends, solo } from './suite/fleet.suite.ts';
import { onEachStore } from './suite/stores.suite.ts';

function createWait() {
  const gate = createGate();
  return { gate, wait: { kind: 'builtin' as const, run: async () => (await gate.opened, result('waited')) } };
}

async function untilQueued(fleet: Fleet, id: string, event: string) {
  await fleet.until(id, (frame) => 'id' in frame.payload && frame.payload.id === event);
}

onEachStore((openStore) => {
  it('[R110] messages to a running session wait in their order and are delivered with the next turn, each logged twice', async () => {
    const { gate, wait } = createWait();
    const fleet = await openFleet({ store: await openStore(), tools: { wait } });
    const delivered = [{ expect: { contains: ['one', 'two', 'three'] } }, { say: 'All.' }];
    const id = await fleet.begin(solo, { turns: [[{ call: 'wait' }], [{ say: 'First.' }], delivered] });
    await fleet.until(id, ({ type }) => type === 'tool.started');
    const sent = [];
    for (const text of ['one', 'two', 'three']) sent.push(...(await fleet.send(id, message(text))));
    await untilQueued(fleet, id, sent.at(-1)!.id);
    gate.open();
    await fleet.rest(id);
    const story = await fleet.story(id);
    expect(story.filter((line) => /user.message|turn\.|session status/.test(line))).toEqual([
      'solo turn.started',
      'session status_running',
      'solo user.message',
      'solo user.message queued',
      'solo user.message queued',
      'solo user.message queued',
      'solo turn.ended end_turn',
      'solo turn.started',
      'solo user.message',
      'solo user.message',
      'solo user.message',
      'solo turn.ended end_turn',
      'session status_idle end_turn',
    ]);
    const events = (await fleet.payloads(id, 'user.message')).slice(1).map(({ id: event }) => event);
    const wanted = sent.map(({ id: event }) => event);
    expect(events).toEqual([...wanted, ...wanted]);
    expect(await fleet.payloads(id, 'run.started')).toHaveLength(1);
    expect((await fleet.payloads(id, 'turn.ended')).every(({ ok }) => ok)).toBe(true);
  });
});

it('[R111] a message sent while the session waits for a decision waits for the end of that turn', async () => {
  const fleet = await openFleet({ tools: { form: { kind: 'custom' } } });
  const id = await fleet.begin(solo, {
    turns: [[{ call: 'form' }], [{ say: 'One.' }], [{ expect: { contains: 'Next' } }, { say: 'Two.' }]],
  });
  const { seq } = await fleet.rest(id);
  const [sent] = await fleet.send(id, message('Next'));
  await untilQueued(fleet, id, sent!.id);
  expect((await fleet.state(id)).status).toBe('idle');
  const [ask] = await fleet.asks(id);
  await fleet.send(id, { type: 'user.custom_tool_result', custom_tool_use_id: ask!, content: [], is_error: false });
  await fleet.rest(id, seq);
  expect((await fleet.payloads(id, 'turn.ended')).map(({ ok }) => ok)).toEqual([true, true]);
});

it('[R112] a system message is delivered as such, with the message it came with', async () => {
  const fleet = await openFleet();
  const id = await fleet.begin(solo, {
    turns: [
      [{ say: 'One.' }],
      [{ expect: { contains: ['Message from the system, not from the user:', 'It is late.'] } }, { say: 'Two.' }],
    ],
  });
  const { seq } = await fleet.rest(id);
  await fleet.send(id, message('Go on'), { type: 'system.message', content: [{ type: 'text', text: 'It is late.' }] });
  await fleet.rest(id, seq);
  expect((await fleet.payloads(id, 'turn.ended')).map(({ ok }) => ok)).toEqual([true, true]);
  expect(await fleet.payloads(id, 'system.message')).toMatchObject([{ is_processed: true }]);
});

it('[R113] however much was sent is taken up, some at a time', async () => {
  const { gate, wait } = createWait();
  const fleet = await openFleet({ tools: { wait } });
  const id = await fleet.begin(solo, { turns: [[{ call: 'wait' }], [{ say: 'Done.' }]] });
  await fleet.until(id, ({ type }) => type === 'tool.started');
  const texts = Array.from({ length: 2 * sessionLimits.inputsTakenMax + 1 }, (_, at) => message(`${at}`));
  const sent = await fleet.send(id, ...texts);
  await untilQueued(fleet, id, sent.at(-1)!.id);
  const taken = fleet.store.writes
    .flatMap((write) => ('changes' in write ? write.changes : []))
    .filter((change) => change.type === 'consume_inputs');
  expect(taken.map(({ inputIds }) => inputIds.length)).toEqual([
    1,
    sessionLimits.inputsTakenMax,
    sessionLimits.inputsTakenMax,
    1,
  ]);
  gate.open();
  await fleet.rest(id);
  const delivered = (await fleet.payloads(id, 'user.message'))
    .filter(({ is_processed: isProcessed }) => isProcessed)
    .slice(1);
  expect(delivered.map(({ id: event }) => event)).toEqual(sent.map(({ id: event }) => event));
});

it('[H142] waiting messages are delivered up to the one that reaches 1 MiB, and the next turn begins with the rest', async () => {
  const { gate, wait } = createWait();
  const fleet = await openFleet({ tools: { wait } });
  const turns = [[{ call: 'wait' }], [{ say: 'One.' }], [{ say: 'Two.' }], [{ say: 'Three.' }]];
  const id = await fleet.begin(solo, { turns });
  await fleet.until(id, ({ type }) => type === 'tool.started');
  const long = message('x'.repeat(storeLimits.inputsTakenBytesMax));
  const note = { type: 'system.message' as const, content: [{ type: 'text' as const, text: 'It is late.' }] };
  const sent = [
    ...(await fleet.send(id, message('a'), long, note)),
    ...(await fleet.send(id, message('b'), message('c'))),
  ];
  await untilQueued(fleet, id, sent.at(-1)!.id);
  gate.open();
  await fleet.rest(id);
  const delivered = (await fleet.frames(id)).filter(
    ({ type, payload }) =>
      type === 'turn.started' || (type.endsWith('.message') && 'is_processed' in payload && payload.is_processed),
  );
  const names = delivered.map(({ type, payload }) => {
    const at = sent.findIndex((event) => 'id' in payload && event.id === payload.id);
    return type === 'turn.started' ? 'turn' : at === -1 ? 'first' : String(at);
  });
  expect(names).toEqual(['turn', 'first', 'turn', '0', '1', '2', 'turn', '3', '4']);
});

it('[R114] pictures and documents reach the model as they were sent', async () => {
  const fleet = await openFleet();
  const image = { type: 'image' as const, source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } };
  const document = {
    type: 'document' as const,
    source: { type: 'text', media_type: 'text/plain', data: 'hi' },
    title: 'Note',
  };
  const id = await fleet.begin(solo, 'Hello', { events: [{ type: 'user.message', content: [image, document] }] });
  await fleet.rest(id);
  const [primary] = [...(await fleet.state(id)).threads.values()];
  expect(primary!.history[0]).toEqual({ role: 'user', content: [image, document] });
});

it('[R115] the coordinator accepts messages while its children work, within the same run', async () => {
  const { gate, wait } = createWait();
  const fleet = await openFleet({ tools: { wait } });
  const task = { turns: [[{ call: 'wait' }], [{ say: 'Report.' }]] };
  const id = await fleet.begin(lead, {
    turns: [
      [sends(task)],
      [{ say: 'Waiting.' }],
      [{ expect: { contains: 'How far?' } }, { say: 'Not far.' }],
      [{ say: 'Thanks.' }],
    ],
  });
  const { seq } = await fleet.until(id, ({ type }) => type === 'session.thread_status_idle');
  await fleet.send(id, message('How far?'));
  await fleet.until(id, ({ type }) => type === 'session.thread_status_idle', seq);
  gate.open();
  await fleet.rest(id);
  const turns = (await fleet.frames(id)).filter(({ type }) => type === 'turn.started').map(({ turn }) => turn!);
  expect(turns.map(({ streamId, depth }) => [streamId, depth])).toEqual([
    [0, 0],
    [1, 1],
    [2, 0],
    [3, 0],
  ]);
  expect(new Set(turns.map(({ run }) => run)).size).toBe(1);
  expect((await fleet.payloads(id, 'turn.ended')).every(({ ok }) => ok)).toBe(true);
});
