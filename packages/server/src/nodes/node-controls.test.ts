import { expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { nodeLimits } from './limits.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import { type ControlOutcome, createProgramControl, type SessionControl } from '../sessions/index.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { owned } from '../store/suite/samples.suite.ts';
import { answerControl, createControlNodes } from './node-controls.ts';
import { createHealthNodes, toOwner } from './node-health.ts';
import { createNodeMessages } from './node-messages.ts';

const control: SessionControl = { request: { type: 'diff' }, by: 'me' };
const answer = { type: 'diff', files: [], filesOmitted: 0, reason: null } as const;

it('[R373] the program of a session is asked by the node that owns the session, and its refusal is the answer', async () => {
  const { store, ask, messagesOf, pass } = open();
  const heard: unknown[] = [];
  const own = async (sessionId: string, asked: SessionControl): Promise<ControlOutcome | undefined> => {
    heard.push([sessionId, asked]);
    if (sessionId === 'sesn_lost') return undefined;
    if (sessionId === 'sesn_1') return { type: 'answered', answer };
    return { type: 'refused', code: 'not_rewindable', problem: 'no checkpoint' };
  };
  const others: unknown[] = [];
  messagesOf('node_2').start(
    answerControl(
      (id, asked) => own(id, asked as unknown as SessionControl),
      async (question) => (others.push(question), {}),
    ),
  );
  for (const id of ['sesn_1', 'sesn_2', 'sesn_lost']) await owned(store, id, toOwner('node_2', 'instance'));
  const asked = ['sesn_own', 'sesn_1', 'sesn_2', 'sesn_lost', 'sesn_nobody'].map((id) =>
    ask(id, control).catch((error: unknown) => error),
  );
  await pass(0);
  await pass(nodeLimits.nodeMessagePollMs);
  await pass(nodeLimits.nodeMessagePollMs);
  expect(await Promise.all(asked)).toMatchObject([
    answer,
    answer,
    { code: 'not_rewindable' },
    { code: 'session_elsewhere' },
    { code: 'program_not_running' },
  ]);
  expect(heard).toContainEqual(['sesn_1', control]);
  void messagesOf('node_1').ask('node_2', { type: 'list' });
  await pass(0);
  await pass(nodeLimits.nodeMessagePollMs);
  expect(others).toEqual([{ type: 'list' }]);
});

it('[R373] a node that does not answer within 25 s is a refusal that can be repeated', async () => {
  const { store, ask, pass } = open();
  await owned(store, 'sesn_1', toOwner('node_2', 'instance'));
  let failed: unknown;
  void ask('sesn_1', control).catch((error: unknown) => (failed = error));
  await pass(0);
  await pass(nodeLimits.controlWaitMs - 1);
  expect(failed).toBeUndefined();
  await pass(1);
  await pass(nodeLimits.nodeMessagePollMs);
  expect(failed).toMatchObject({ code: 'session_elsewhere' });
});

function open() {
  const clock = createManualClock(1_000);
  const { schedule, advance } = createManualSchedule(clock);
  const store = createMemoryStore({ clock });
  const messagesOf = (nodeId: string) => createNodeMessages({ store, nodeId, schedule, onProblem: () => {} });
  const messages = messagesOf('node_1');
  const ask = createProgramControl({
    leases: store.leases,
    own: async (sessionId) => (sessionId === 'sesn_own' ? { type: 'answered', answer } : undefined),
    nodes: createControlNodes(messages, createHealthNodes('node_1', messages).nodeOf),
  });
  /** The store is in memory: what follows from the time needs turns, but no time. */
  const pass = async (ms: number) => {
    advance(ms);
    for (let turn = 0; turn < 8; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { store, ask, messagesOf, pass };
}
