import { expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { createNodeMail } from './node-mail.ts';

function open() {
  const clock = createManualClock(1_000);
  const { schedule, advance } = createManualSchedule(clock);
  const store = createMemoryStore({ clock });
  const problems: unknown[] = [];
  const openMail = (nodeId: string, on = store) =>
    createNodeMail({ store: on, nodeId, schedule, onProblem: (problem) => problems.push(problem) });
  /** The store is in memory: what follows from the time needs turns, but no time. */
  const pass = async (ms: number) => {
    advance(ms);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, store, problems, openMail, pass };
}

it('[P59] a node looks every so often whether it is asked for something', async () => {
  const { openMail, pass, problems } = open();
  const [one, two] = [openMail('one'), openMail('two')];
  const heard: unknown[] = [];
  two.start(async (question) => (heard.push(question['at']), {}));
  for (const at of [1, 2]) {
    const asking = one.ask('two', { at });
    await pass(limits.nodeMailLookMs - 1);
    expect(heard).toHaveLength(at - 1);
    await pass(1);
    expect(heard).toHaveLength(at);
    await pass(limits.nodeMailLookMs);
    expect((await asking)?.answer).toEqual({});
  }
  two.close();
  expect(problems).toEqual([]);
});

it('[P59] who asks looks less and less often for the answer, down to the same, and waits exactly as long as it may', async () => {
  const { store, openMail, pass, clock } = open();
  const looks: number[] = [];
  const get: typeof store.documents.get = (kind, id) => {
    looks.push(clock.steady());
    return store.documents.get(kind, id);
  };
  const over: string[] = [];
  const one = openMail('one', { ...store, documents: { ...store.documents, get } });
  void one.ask('nobody', {}).then(() => over.push('early'));
  await pass(0);
  await pass(1);
  void openMail('two')
    .ask('nobody', {})
    .then(() => over.push('late'));
  await pass(0);
  // Each looks once with every step, and then again after the longest delay.
  for (let step = 0; step < 5; step++) await pass(2 * limits.nodeMailLookMs);
  await pass(limits.nodeMailWaitMs - limits.nodeMailLookMs - clock.steady());
  const before = looks.length;
  await pass(limits.nodeMailLookMs - 1);
  expect([looks.length - before, over]).toEqual([0, []]);
  await pass(1);
  expect([looks.length - before, over]).toEqual([1, ['early']]);
  await pass(limits.nodeMailLookMs);
  expect(over).toEqual(['early', 'late']);
});

it('[P59] so many questions are answered at a time; the next one waits', async () => {
  const { store, openMail, pass } = open();
  const kind = 'node_question two';
  for (let at = 0; at <= limits.nodeMailsMax; at++) await store.documents.put({ kind, id: `${at}`, data: {} });
  const two = openMail('two');
  const answers: (() => void)[] = [];
  two.start(() => new Promise((resolve) => answers.push(() => resolve({}))));
  await pass(limits.nodeMailLookMs);
  await pass(limits.nodeMailLookMs);
  expect(answers).toHaveLength(limits.nodeMailsMax);
  answers[0]!();
  await pass(limits.nodeMailLookMs);
  await pass(limits.nodeMailLookMs);
  expect(answers).toHaveLength(limits.nodeMailsMax + 1);
  for (const answer of answers) answer();
  await pass(limits.nodeMailLookMs);
  expect((await store.documents.list({ kind, limit: 1 })).items).toEqual([]);
  two.close();
});
