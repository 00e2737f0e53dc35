import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { expect, it, vi } from 'vitest';
import { MAIN, type ProgramEvent } from '../../engines/program/program.ts';
import type { SessionFrame } from '../../frames/frames.ts';
import type { ThreadState } from '../core/state/state.ts';
import {
  agent,
  confirm,
  crash,
  type Fleet,
  interruption,
  message,
  openFleet,
  snapshot,
  workspaceId,
} from '../suite/fleet.suite.ts';
import {
  begins,
  calls,
  callsAgent,
  createTestPrograms,
  ends,
  gives,
  leaves,
  opens,
  says,
  type TestPrograms,
  turnBegins,
  turnEnds,
  works,
} from '../runtime/program/test-program.suite.ts';

const reviewer = on('codex/gpt', 'reviewer');
const tester = on('opencode/scripted/echo', 'tester');
const lead = agent('lead', [reviewer, tester, snapshot('writer')]);

it('[R390, R391] a model coordinator delegates to two programs and a model at once, and gets their last texts in the order of the tasks', async () => {
  const { fleet, programs, id } = await begin([
    [delegate(['reviewer', 'Review.'], ['tester', 'Test.'], ['writer', 'Write.'])],
    [
      { expect: { contains: ['[1/3] reviewer', 'No problems.', '[2/3] tester', '3 passed.', 'Write.'] } },
      { say: 'Ok.' },
    ],
  ]);
  const [first, second] = [await programs.wait(0), await programs.wait(1)];
  const [one, two] = [first, second].map(({ options }) => options);
  expect([one!.agent.name, two!.agent.name, one!.members, one!.depthMax]).toEqual(['reviewer', 'tester', [], 0]);
  expect([one!.sessionId, one!.directory]).toEqual([id, two!.directory]);
  await vi.waitFor(() => expect([first.heard, second.heard]).toEqual([['say Review.'], ['say Test.']]));
  second.emit(opened('t'), turnBegins, begins(), says('Running.'), calls('x', 'allow'), ends(), gives('x'));
  first.emit(opened('r'), turnBegins, begins(), says('No problems.'), ends(), turnEnds);
  second.emit(begins(), says('3 passed.'), ends(), turnEnds);
  await fleet.rest(id);
  const threads = await threadsOf(fleet, id);
  expect(
    threads.map(({ agentName, depth, status, program }) => [agentName, depth, status, program.conversation]),
  ).toEqual([
    ['lead', 0, 'idle', null],
    ['reviewer', 1, 'idle', 'r'],
    ['tester', 1, 'idle', 't'],
    ['writer', 1, 'idle', null],
  ]);
  expect(one!.threadId).toBe(threads[1]!.id);
  expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: true, content: 'Ok.' }]);
  const { usage } = await fleet.state(id);
  const sum = (key: keyof typeof usage) => threads.reduce((total, thread) => total + (thread.usage[key] ?? 0), 0);
  expect([sum('input_tokens'), sum('output_tokens'), sum('cost_nano_usd')]).toEqual([
    usage.input_tokens,
    usage.output_tokens,
    usage.cost_nano_usd,
  ]);
  expect(threads[2]!.usage).toMatchObject({ input_tokens: 20, output_tokens: 10, cost_nano_usd: 14 });
});

it('[R392] approvals of the programs of a session are decided one by one, and each program gets its own decisions', async () => {
  const { fleet, programs, id } = await begin([
    [delegate(['reviewer', 'Review.'], ['tester', 'Test.'])],
    [{ expect: { contains: ['Not allowed: too slow.'] } }, { say: 'Ok.' }],
  ]);
  const [first, second] = [await programs.wait(0), await programs.wait(1)];
  // Both programs use the same ids.
  for (const program of [first, second]) program.emit(turnBegins, begins(), calls('b', 'ask'), ends());
  const { seq } = await fleet.until(id, isIdleFor(2));
  const [one, two] = await fleet.asks(id);
  await fleet.send(id, confirm(one!), confirm(two!, 'deny', 'Too slow.'));
  await vi.waitFor(() => expect([first.heard[1], second.heard[1]]).toEqual(['allow b', 'deny b']));
  first.emit(gives('b'), begins(), says('Fine.'), ends(), turnEnds);
  second.emit(gives('b'), begins(), says('Not allowed: too slow.'), ends(), turnEnds);
  await fleet.rest(id, seq);
  expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: true, content: 'Ok.' }]);
});

it('[R393] a program that is interrupted reports that to its coordinator, and the others go on', async () => {
  const { fleet, programs, id } = await begin([
    [delegate(['reviewer', 'Review.'], ['tester', 'Test.'])],
    [{ expect: { contains: ['ERR: reviewer did not finish: it was interrupted', '3 passed.'] } }, { say: 'Ok.' }],
  ]);
  const [first, second] = [await programs.wait(0), await programs.wait(1)];
  for (const program of [first, second]) program.emit(turnBegins, begins(), says('Working.'));
  await fleet.until(id, ({ type }) => type === 'agent.message');
  const [, one] = await threadsOf(fleet, id);
  await fleet.send(id, interruption(one!.id));
  await vi.waitFor(() => expect([first.heard[1], second.heard[1]]).toEqual(['interrupt', undefined]));
  first.emit({ type: 'turn_ended', key: MAIN, outcome: { type: 'stopped' }, isMoreToCome: false });
  second.emit(says('3 passed.'), ends(), turnEnds);
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: true, content: 'Ok.' }]);
});

it('[R394] a follow-up goes to the same program, which resumes its conversation after a restart; messages of people reach it in its turn', async () => {
  const { fleet, programs, id } = await begin([
    [send('reviewer', 'Review.')],
    [{ say: 'Waiting.' }],
    [{ say: 'First.' }],
    [send('reviewer', 'Once more.', FOUND)],
    [{ say: 'Waiting.' }],
    [{ say: 'Second.' }],
  ]);
  const first = await programs.wait();
  first.emit(opened('r'), turnBegins, begins(), says('Looking.'));
  await fleet.until(id, ({ type }) => type === 'agent.message');
  const [, child] = await threadsOf(fleet, id);
  await fleet.send(id, { ...message('Look at the tests too.'), thread_id: child!.id });
  await vi.waitFor(() => expect(first.heard).toEqual(['say Review.', 'say Look at the tests too.']));
  first.emit(says('Done.'), ends(), turnEnds);
  const { seq } = await fleet.rest(id);
  const next = createTestPrograms();
  const restarted = await crash(fleet, ({ type }) => type === 'session.status_idle', { programs: next });
  await restarted.send(id, message('Again.'));
  const second = await next.wait();
  expect(second.options).toMatchObject({ resume: 'r', threadId: child!.id });
  await vi.waitFor(() => expect(second.heard).toEqual(['say Once more.']));
  second.emit(opened('r'), turnBegins, begins(), says('Still fine.'), ends(), turnEnds);
  await restarted.rest(id, seq);
  expect(await restarted.payloads(id, 'run.ended')).toMatchObject([{ content: 'First.' }, { content: 'Second.' }]);
  expect((await restarted.payloads(id, 'program.opened')).length).toBe(1);
});

it('[R395] a message that a running program was sent by its coordinator waits for the end of its turn', async () => {
  const { fleet, programs, id } = await begin([
    [send('reviewer', 'Review.')],
    [{ call: 'list_agents' }],
    [send('reviewer', 'And this.', FOUND)],
    [{ say: 'Waiting.' }],
    [{ say: 'One.' }],
    [{ say: 'Two.' }],
  ]);
  const program = await programs.wait();
  program.emit(opened('r'), turnBegins, begins(), says('Looking.'));
  await fleet.until(id, ({ type, threadId, payload }) => type === 'turn.ended' && threadId !== null && payload.ok);
  const [, child] = await threadsOf(fleet, id);
  const [listed] = (await fleet.payloads(id, 'agent.tool_result')).slice(1);
  expect(listed!.content).toMatchObject([{ text: expect.stringContaining(`"thread_id":"${child!.id}"`) }]);
  await fleet.until(id, ({ type, payload }) => type === 'agent.thread_message_received' && !payload.is_processed);
  program.emit(says('One done.'), ends(), turnEnds);
  await vi.waitFor(() => expect(program.heard).toEqual(['say Review.', 'say Message from the coordinator:|And this.']));
  const seq = await fleet.head(id);
  program.emit(turnBegins, begins(), says('Two done.'), ends(), turnEnds);
  await fleet.rest(id, seq);
  const reports = (await fleet.payloads(id, 'agent.thread_message_sent')).filter(
    ({ to_agent_name: to }) => to === null,
  );
  expect(reports.map(({ content }) => content)).toMatchObject([
    [{ text: 'Looking.\n\nOne done.' }],
    [{ text: 'Two done.' }],
  ]);
});

it('[R396] a program that dies ends its own turns with a report, and can be continued; the other programs go on', async () => {
  const { fleet, programs, id } = await begin([
    [delegate(['reviewer', 'Review.'], ['tester', 'Test.'])],
    [
      { expect: { contains: ['ERR: reviewer did not finish: the program is gone: SIGSEGV', '3 passed.'] } },
      { say: 'Ok.' },
    ],
  ]);
  const [first, second] = [await programs.wait(0), await programs.wait(1)];
  first.emit(opened('r'), turnBegins, begins(), callsAgent('a'), opens('k', 'a'), ends(), begins('k'), works('w'));
  second.emit(turnBegins, begins(), calls('x', 'ask'), ends());
  await fleet.until(id, ({ type }) => type === 'approval.requested');
  await fleet.until(id, ({ type }) => type === 'program.work_started');
  first.exit('SIGSEGV');
  await fleet.until(id, ({ type }) => type === 'turn.ended');
  const [asked] = await vi.waitUntil(async () => {
    const asks = await fleet.asks(id);
    return asks.length === 1 ? asks : false;
  });
  await fleet.send(id, confirm(asked!));
  second.emit(gives('x'), begins(), says('3 passed.'), ends(), turnEnds);
  await fleet.until(id, ({ type }) => type === 'run.ended');
  const threads = await threadsOf(fleet, id);
  expect(threads.map(({ agentName, status, hasFailed }) => [agentName, status, hasFailed])).toEqual([
    ['lead', 'idle', false],
    ['reviewer', 'idle', true],
    ['tester', 'idle', false],
    ['worker', 'idle', true],
  ]);
  expect(threads[3]).toMatchObject({ parentId: threads[1]!.id, depth: 2, programKey: 'k' });
  expect(await fleet.payloads(id, 'program.work_ended')).toMatchObject([{ work_id: 'w', outcome: 'lost' }]);
  expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: true, content: 'Ok.' }]);
});

it('[R397] after a crash each program is recovered from its own transcripts, its turns end with a report, and the coordinator goes on', async () => {
  const { fleet, programs, id } = await begin([
    [delegate(['reviewer', 'Review.'], ['tester', 'Test.'])],
    [
      { expect: { contains: ['Found in the transcript.', 'ERR: tester did not finish: the server was restarted'] } },
      { say: 'Ok.' },
    ],
  ]);
  const [first, second] = [await programs.wait(0), await programs.wait(1)];
  first.emit(opened('r'), turnBegins, begins());
  second.emit(opened('t'), turnBegins, begins(), calls('x', 'ask'), ends());
  await fleet.until(id, ({ type }) => type === 'approval.requested');
  const found = [says('Found in the transcript.'), ends(), turnEnds];
  const next = createTestPrograms({ recoveredOf: (of) => (of.conversation === 'r' ? found : []) });
  const restarted = await crash(fleet, ({ type }) => type === 'approval.requested', { programs: next });
  await restarted.until(id, ({ type }) => type === 'run.ended');
  const [, one, two] = await threadsOf(restarted, id);
  expect(next.recoveries.map(({ conversation, threadId, agent: { name } }) => [conversation, threadId, name])).toEqual([
    ['r', one!.id, 'reviewer'],
    ['t', two!.id, 'tester'],
  ]);
  expect(next.recoveries.map(({ threads }) => [...threads.keys()])).toEqual([[MAIN], [MAIN]]);
  expect([next.opened, await restarted.asks(id)]).toEqual([[], []]);
  expect(await restarted.payloads(id, 'run.ended')).toMatchObject([{ ok: true, content: 'Ok.' }]);
});

it('[R398] sub-agents of a member are threads below it with its definition; the depth of the session holds across engines', async () => {
  const { fleet, programs, id } = await begin([[delegate(['reviewer', 'Review.'])], [{ say: 'Ok.' }]], { depthMax: 3 });
  const program = await programs.wait();
  expect(program.options.depthMax).toBe(2);
  program.emit(opened('r'), turnBegins, begins(), callsAgent('a'), opens('k', 'a'), ends());
  program.emit(begins('k'), says('Deep.', 'k'), ends('k'), leaves('k'), gives('a'));
  await fleet.until(id, ({ type, threadId, payload }) => type === 'turn.ended' && threadId !== null && payload.ok);
  const [, child, grandchild] = await threadsOf(fleet, id);
  expect(grandchild).toMatchObject({ parentId: child!.id, depth: 2 });
  expect((await fleet.store.threads.get(id, grandchild!.id))!.data).toMatchObject({
    agent: { model: { id: 'codex/gpt' } },
  });
  await expect(fleet.send(id, { ...message('Hi.'), thread_id: grandchild!.id })).rejects.toMatchObject({
    code: 'thread_not_steerable',
  });
  program.emit(turnEnds);
  await fleet.rest(id);
});

it('[R399] an archived member ends its program and the sub-agents of it, and the session goes on', async () => {
  const { fleet, programs, id } = await begin([
    [delegate(['reviewer', 'Review.'])],
    [{ expect: { contains: 'its thread was archived' } }, { say: 'Ok.' }],
  ]);
  const program = await programs.wait();
  program.emit(opened('r'), turnBegins, begins(), callsAgent('a'), opens('k', 'a'), ends());
  program.emit(begins('k'), calls('b', 'ask', 'k'), ends('k'), works('w'));
  await fleet.until(id, isIdleFor(1));
  const [, child] = await threadsOf(fleet, id);
  await fleet.sessions.archiveThread(workspaceId, id, child!.id);
  await fleet.until(id, ({ type }) => type === 'run.ended');
  await vi.waitFor(() => expect(program.heard).toEqual(['say Review.', 'close']));
  expect((await threadsOf(fleet, id)).map(({ status }) => status)).toEqual(['idle', 'terminated', 'terminated']);
});

it('[R400] a used-up budget stops programs, whose coordinator waits for a larger one', async () => {
  const budget = { cost_nano_usd: null, tokens: null, requests: 2, wall_ms: null };
  const { fleet, programs, id } = await begin([[delegate(['reviewer', 'Review.'])], [{ say: 'Ok.' }]], { budget });
  const program = await programs.wait();
  program.emit(opened('r'), turnBegins, begins(), calls('x', 'allow'), ends());
  await vi.waitFor(() => expect(program.heard.slice(1, 2)).toEqual(['interrupt']));
  program.emit({ type: 'turn_ended', key: MAIN, outcome: { type: 'stopped' }, isMoreToCome: false });
  await fleet.rest(id);
  expect((await fleet.state(id)).stop.reason).toEqual({ type: 'budget_reached' });
  await fleet.sessions.update({ workspaceId, sessionId: id, budget: null });
  await fleet.until(id, ({ type }) => type === 'run.ended');
  expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: true, content: 'Ok.' }]);
});

it('[R401] a program coordinator delegates to members on other engines with tools, and runs the others itself', async () => {
  const model = { ...reviewer.model, id: 'claude-code/default' };
  const own = on('claude-code/haiku', 'helper');
  const { fleet, programs, id } = await begin('Go.', { agent: { ...agent('main', [reviewer, own, tester]), model } });
  const main = await programs.wait(0);
  expect(main.options.members.map(({ name }) => name)).toEqual(['helper']);
  expect(main.options.agent.tools).toMatchObject(
    ['list_agents', 'send_to_agent', 'delegate'].map((name) => ({ name })),
  );
  main.emit(opened('m'), turnBegins, begins(), tool('l', 'list_agents', {}), ends());
  await vi.waitFor(() => expect(main.heard[1]).toBe('result l'));
  const input = {
    tasks: [
      { agent: 'tester', message: 'Test.' },
      { agent: 'helper', message: 'Help.' },
    ],
  };
  main.emit(gives('l'), begins(), tool('d', 'delegate', input), ends());
  const member = await programs.wait(1);
  expect(member.options).toMatchObject({ agent: { name: 'tester', tools: [] }, members: [] });
  member.emit(turnBegins, begins(), calls('x', 'ask'), ends());
  await fleet.until(id, isIdleFor(1));
  await fleet.send(id, confirm((await fleet.asks(id))[0]!));
  member.emit(gives('x'), begins(), says('3 passed.'), ends(), turnEnds);
  await vi.waitFor(() => expect(main.heard[2]).toBe('result d'));
  const results = await fleet.payloads(id, 'agent.tool_result');
  expect(results.map(({ content }) => JSON.stringify(content))).toEqual([
    expect.stringMatching(/reviewer.*tester/),
    expect.any(String),
    expect.stringMatching(/3 passed.*there is no agent \\"helper\\": choose one of reviewer, tester/),
  ]);
  main.emit(gives('d'), begins(), tool('s', 'send_to_agent', { agent: 'reviewer', message: 'Review.' }), ends());
  const second = await programs.wait(2);
  await vi.waitFor(() => expect(main.heard[3]).toBe('result s'));
  main.emit(gives('s'), begins(), says('Waiting.'), ends(), turnEnds);
  second.emit(turnBegins, begins(), says('No problems.'), ends(), turnEnds);
  const [, , reviews] = await threadsOf(fleet, id);
  const report = `say Message from the agent "reviewer" (thread ${reviews!.id}):|No problems.`;
  await vi.waitFor(() => expect(main.heard[4]).toBe(report));
  main.emit(turnBegins, begins(), says('All done.'), ends(), turnEnds);
  await fleet.until(id, ({ type }) => type === 'run.ended');
  expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: true, content: 'All done.' }]);
});

/** A step that delegates, and waits for all reports. */
function delegate(...tasks: readonly (readonly [agentName: string, message: string])[]) {
  return { call: 'delegate', input: { tasks: tasks.map(([name, text]) => ({ agent: name, message: text })) } };
}

/** The thread that a tool result named last. */
const FOUND = '{{find:sthr_\\w+}}';

function send(name: string, text: string, threadId?: string) {
  const more = threadId === undefined ? {} : { thread_id: threadId };
  return { call: 'send_to_agent', input: { agent: name, message: text, ...more } };
}

function on(model: string, name: string): AgentSnapshot {
  return snapshot(name, { model: { id: model, effort: { type: 'high' }, speed: 'standard' } });
}

function opened(conversation: string): ProgramEvent {
  return { type: 'opened', key: MAIN, conversation, version: null };
}

/** A call of a tool that the session runs for a program. */
function tool(callId: string, toolName: string, input: object): ProgramEvent {
  return {
    type: 'call',
    key: MAIN,
    callId,
    name: `mcp__fleetloom__${toolName}`,
    input: input as never,
    tool: { kind: 'custom', toolName },
  };
}

function isIdleFor(count: number) {
  return ({ type, payload }: SessionFrame) =>
    type === 'session.status_idle' &&
    payload.stop_reason.type === 'requires_action' &&
    payload.stop_reason.event_ids.length === count;
}

async function threadsOf(fleet: Fleet, id: string): Promise<ThreadState[]> {
  return [...(await fleet.state(id)).threads.values()];
}

/** A session with a scripted coordinator whose roster has two programs. */
async function begin(
  turns: string | object[],
  { agent: coordinator = lead, ...more }: { agent?: typeof lead } & Parameters<Fleet['begin']>[2] = {},
): Promise<{ fleet: Fleet; programs: TestPrograms; id: string }> {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(coordinator, typeof turns === 'string' ? turns : { turns }, more);
  return { fleet, programs, id };
}
