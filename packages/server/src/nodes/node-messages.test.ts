import { expect, it } from 'vitest';
import { inBackground, reportAsWarning } from '../base/in-background.ts';
import { createManualClock } from '../base/clock.ts';
import { nodeLimits } from './limits.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { createNodeMessages } from './node-messages.ts';

function open() {
  const clock = createManualClock(1_000);
  const { schedule, advance } = createManualSchedule(clock);
  const store = createMemoryStore({ clock });
  const problems: unknown[] = [];
  const openMessages = (nodeId: string, on = store) =>
    createNodeMessages({ store: on, nodeId, schedule, onProblem: (problem) => problems.push(problem) });
  /** The store is in memory: what follows from the time needs turns, but no time. */
  const pass = async (ms: number) => {
    advance(ms);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, store, problems, openMessages, pass };
}

it('[P59] a node polls for requests of other nodes every 200 ms', async () => {
  const { openMessages, pass, problems } = open();
  const [one, two] = [openMessages('one'), openMessages('two')];
  const heard: unknown[] = [];
  two.start(async (question) => (heard.push(question['at']), {}));
  for (const at of [1, 2]) {
    const asking = one.ask('two', { at });
    await pass(nodeLimits.nodeMessagePollMs - 1);
    expect(heard).toHaveLength(at - 1);
    await pass(1);
    expect(heard).toHaveLength(at);
    await pass(nodeLimits.nodeMessagePollMs);
    expect((await asking)?.answer).toEqual({});
  }
  two.close();
  expect(problems).toEqual([]);
});

it('[P59] the asking node polls less and less often, at least once per poll interval, and gives up exactly at the limit', async () => {
  const { store, openMessages, pass, clock } = open();
  const looks: number[] = [];
  const get: typeof store.documents.get = (kind, id) => {
    looks.push(clock.steady());
    return store.documents.get(kind, id);
  };
  const over: string[] = [];
  const one = openMessages('one', { ...store, documents: { ...store.documents, get } });
  inBackground(
    one.ask('missing', {}).then(() => over.push('early')),
    reportAsWarning,
  );
  await pass(0);
  await pass(1);
  inBackground(
    openMessages('two')
      .ask('missing', {})
      .then(() => over.push('late')),
    reportAsWarning,
  );
  await pass(0);
  // Each looks once with every step, and then again after the longest delay.
  for (let step = 0; step < 5; step++) await pass(2 * nodeLimits.nodeMessagePollMs);
  await pass(nodeLimits.nodeMessageWaitMs - nodeLimits.nodeMessagePollMs - clock.steady());
  const before = looks.length;
  await pass(nodeLimits.nodeMessagePollMs - 1);
  expect([looks.length - before, over]).toEqual([0, []]);
  await pass(1);
  expect([looks.length - before, over]).toEqual([1, ['early']]);
  await pass(nodeLimits.nodeMessagePollMs);
  expect(over).toEqual(['early', 'late']);
});

it('[P59] 20 requests are answered at a time; the next one waits', async () => {
  const { store, openMessages, pass } = open();
  const kind = 'node_question two';
  for (let at = 0; at <= nodeLimits.nodeMessagesMax; at++) await store.documents.put({ kind, id: `${at}`, data: {} });
  const two = openMessages('two');
  const answers: (() => void)[] = [];
  two.start(() => new Promise((resolve) => answers.push(() => resolve({}))));
  await pass(nodeLimits.nodeMessagePollMs);
  await pass(nodeLimits.nodeMessagePollMs);
  expect(answers).toHaveLength(nodeLimits.nodeMessagesMax);
  answers[0]!();
  await pass(nodeLimits.nodeMessagePollMs);
  await pass(nodeLimits.nodeMessagePollMs);
  expect(answers).toHaveLength(nodeLimits.nodeMessagesMax + 1);
  for (const answer of answers) answer();
  await pass(nodeLimits.nodeMessagePollMs);
  expect((await store.documents.list({ kind, limit: 1 })).items).toEqual([]);
  two.close();
});
