import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import { expect, it, vi } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { sessionLimits } from '../core/limits.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import {
  agent,
  confirm,
  crash,
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
  turnBegins,
  turnEnds,
} from '../runtime/program/test-program.suite.ts';

const model = { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' } as const;
const main: SessionAgent = { ...agent('main', [snapshot('worker')]), model };

const limited = {
  type: 'limited' as const,
  allowed_hosts: [],
  allow_mcp_servers: false,
  allow_package_managers: false,
};

it('[J20] events of a program are written like those of any other engine, and messages to it wait for its turn', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(main, 'Go.');
  const program = await programs.wait();
  expect(program.options).toMatchObject({ sessionId: id, resume: null });
  program.emit({ type: 'opened', key: 'main', conversation: 'c1', version: '1' }, turnBegins, begins(), says('Hello.'));
  await fleet.until(id, ({ type }) => type === 'agent.message');
  await fleet.send(id, message('More.'));
  program.emit(calls('t1', 'allow'), ends(), gives('t1'), begins(), says('Done.'), ends(), turnEnds);
  await vi.waitFor(() => expect(program.heard).toEqual(['say Go.', 'say More.']), 20_000);
  program.emit(turnBegins, turnEnds);
  await fleet.rest(id);
  expect(await fleet.story(id)).toEqual([
    'session created',
    'session run.started',
    'main turn.started',
    'session status_running',
    'main thread_status_running',
    'main user.message',
    'session program.opened',
    'main model_request_start',
    'main message',
    'main user.message queued',
    'main tool_use',
    'main tool.started',
    'main model_request_end',
    'main tool_result',
    'main model_request_start',
    'main message',
    'main model_request_end',
    'main turn.ended end_turn',
    'main thread_status_idle end_turn',
    'main turn.started',
    'main thread_status_running',
    'main user.message',
    'main turn.ended end_turn',
    'main thread_status_idle end_turn',
    'session run.ended end_turn',
    'session usage',
    'session status_idle end_turn',
  ]);
});

it('[J21] a call that waits for a sub-agent with a pending approval waits for it too, so that a session whose agents all wait is idle', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(main, 'Go.');
  const program = await programs.wait();
  program.emit(turnBegins, begins(), callsAgent('a1'), opens('k1', 'a1'), callsAgent('a2'), opens('k2', 'a2'), ends());
  program.emit(begins('k1'), calls('b1', 'ask', 'k1'), ends('k1'), begins('k2'), calls('b2', 'ask', 'k2'), ends('k2'));
  const { seq } = await fleet.rest(id);
  const asks = await fleet.asks(id);
  expect(asks).toHaveLength(2);
  await fleet.send(id, confirm(asks[0]!), confirm(asks[1]!, 'deny', 'No.'));
  await vi.waitFor(() => expect(program.heard.slice(1)).toEqual(['allow b1', 'deny b2']), 20_000);
  program.emit(
    gives('b1', 'k1'),
    gives('b2', 'k2'),
    begins('k1'),
    says('One.', 'k1'),
    ends('k1'),
    leaves('k1'),
    gives('a1'),
  );
  program.emit(leaves('k2', 'failed'), gives('a2'), turnEnds);
  await fleet.rest(id, seq);
  expect((await fleet.story(id, seq)).filter((line) => / (?:thread_)?status_| turn/.test(line))).toEqual([
    'session status_running',
    'worker thread_status_running',
    'main thread_status_running',
    'worker#2 thread_status_running',
    'worker turn.ended end_turn',
    'worker thread_status_idle end_turn',
    'worker#2 turn.ended error',
    'worker#2 thread_status_idle retries_exhausted',
    'main turn.ended end_turn',
    'main thread_status_idle end_turn',
    'session status_idle end_turn',
  ]);
});

it('[J22] the program runs an interrupt: the turn ends when the program reports it, and later events begin no other turn', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(main, 'Go.');
  const program = await programs.wait();
  program.emit(
    turnBegins,
    begins(),
    callsAgent('a1'),
    opens('k1', 'a1'),
    ends(),
    begins('k1'),
    calls('b1', 'ask', 'k1'),
    ends('k1'),
  );
  const { seq } = await fleet.rest(id);
  await fleet.send(id, interruption());
  await vi.waitFor(() => expect(program.heard.slice(1)).toEqual(['stop k1', 'interrupt']), 20_000);
  program.emit(leaves('k1', 'stopped'), {
    type: 'turn_ended',
    key: 'main',
    outcome: { type: 'stopped' },
    isMoreToCome: false,
  });
  await fleet.rest(id, seq);
  // The program would like to say something about it.
  program.emit({ type: 'turn_expected', key: 'main' }, turnBegins, begins());
  await vi.waitFor(() => expect(program.heard).toEqual(['say Go.', 'stop k1', 'interrupt', 'interrupt']), 20_000);
  program.emit(says('Oh.'), ends(), turnEnds);
  await fleet.send(id, message('And now?'));
  await vi.waitFor(() => expect(program.heard.at(-1)).toBe('say And now?'), 20_000);
  program.emit(turnBegins, begins(), says('Now.'), ends(), turnEnds);
  await fleet.until(id, ({ type, payload }) => type === 'turn.ended' && payload.ok);
  expect((await fleet.payloads(id, 'agent.message')).map(({ content }) => content[0]!.text)).toEqual(['Now.']);
  expect((await fleet.payloads(id, 'turn.ended')).map(({ stop_reason: end }) => end)).toEqual([
    'cancelled',
    'cancelled',
    'end_turn',
  ]);
});

it('[J248] messages that are sent while the program begins and ends turns on its own all reach the program, and nothing is interrupted', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(main, 'Go.');
  const program = await programs.wait();
  program.emit(turnBegins, begins(), says('Done.'), ends(), turnEnds);
  await fleet.rest(id);
  const sent = Array.from({ length: 20 }, (_, at) => `Message ${at}.`);
  for (const text of sent) {
    const sending = fleet.send(id, message(text));
    // Queued reports of sub-agents, each in an empty turn.
    program.emit(turnBegins, turnEnds);
    await new Promise((resolve) => setImmediate(resolve));
    program.emit(turnBegins, turnEnds);
    await sending;
    await vi.waitFor(() => expect(program.heard.at(-1)).toBe(`say ${text}`), 20_000);
    program.emit(turnBegins, begins(), says(`To ${text}`), ends(), turnEnds);
    await fleet.until(id, ({ type, payload }) => type === 'agent.message' && payload.content[0]!.text === `To ${text}`);
  }
  expect(program.heard).toEqual(['say Go.', ...sent.map((text) => `say ${text}`)]);
});

it('[J23] a program that does not stop in time is ended, and its turns with it', async () => {
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const { schedule, advance } = createManualSchedule(clock);
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs, clock, schedule });
  const id = await fleet.begin(main, 'Go.');
  const program = await programs.wait();
  program.emit(turnBegins, begins(), calls('b1', 'allow'), ends());
  await fleet.until(id, ({ type }) => type === 'tool.started');
  await fleet.send(id, interruption());
  await vi.waitFor(() => expect(program.heard.at(-1)).toBe('interrupt'), 20_000);
  advance(sessionLimits.programStopMs - 1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(program.heard.at(-1)).toBe('interrupt');
  advance(1);
  await fleet.rest(id);
  expect(program.heard.at(-1)).toBe('close overdue');
  expect((await fleet.payloads(id, 'turn.ended')).map(({ stop_reason: end }) => end)).toEqual(['cancelled']);
});

it('[J407] an interrupt of another thread does not extend the time that an interrupted program has to stop a thread', async () => {
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const { schedule, advance } = createManualSchedule(clock);
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs, clock, schedule });
  const id = await fleet.begin(main, 'Go.');
  const program = await programs.wait();
  program.emit(turnBegins, begins(), callsAgent('a1'), opens('k1', 'a1'), callsAgent('a2'), opens('k2', 'a2'));
  await vi.waitFor(async () => expect(await fleet.payloads(id, 'session.thread_created')).toHaveLength(2), 20_000);
  const [first, second] = (await fleet.payloads(id, 'session.thread_created')).map((made) => made.session_thread_id);
  await fleet.send(id, interruption(first));
  await vi.waitFor(() => expect(program.heard.at(-1)).toBe('stop k1'), 20_000);
  advance(sessionLimits.programStopMs - 1);
  await fleet.send(id, interruption(second));
  await vi.waitFor(() => expect(program.heard.at(-1)).toBe('stop k2'), 20_000);
  advance(1);
  await fleet.rest(id);
  expect(program.heard.at(-1)).toBe('close overdue');
});

it('[J406] a program that is ended before its first turn, because it did not start in time, leaves the conversation as it was', async () => {
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const { schedule, advance } = createManualSchedule(clock);
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs, clock, schedule });
  const id = await fleet.begin(main, 'Go.');
  const first = await programs.wait();
  first.emit({ type: 'opened', key: 'main', conversation: 'c1', version: null }, turnBegins, turnEnds);
  const { seq } = await fleet.rest(id);
  first.exit('it was ended by SIGKILL');
  await fleet.send(id, message('And now?'));
  const slow = await programs.wait(1);
  expect(slow.options.resume).toBe('c1');
  await vi.waitFor(() => expect(slow.heard).toEqual(['say And now?']), 20_000);
  await fleet.send(id, interruption());
  await vi.waitFor(() => expect(slow.heard.at(-1)).toBe('interrupt'), 20_000);
  advance(sessionLimits.programStopMs);
  await fleet.rest(id, seq);
  expect(slow.heard.at(-1)).toBe('close overdue');
  await fleet.send(id, message('Again.'));
  expect((await programs.wait(2)).options.resume).toBe('c1');
});

it('[J24] a program that is gone ends every turn with its reason, and the next message begins where it was', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(main, 'Go.');
  const program = await programs.wait();
  program.emit(
    { type: 'opened', key: 'main', conversation: 'c1', version: null },
    turnBegins,
    begins(),
    callsAgent('a1'),
    opens('k1', 'a1'),
  );
  program.emit(begins('k1'), calls('b1', 'ask', 'k1'));
  await fleet.until(id, ({ type, payload }) => type === 'agent.tool_use' && payload.evaluated_permission === 'ask');
  program.exit('it was ended by SIGSEGV');
  const { seq } = await fleet.rest(id);
  expect((await fleet.payloads(id, 'session.error'))[0]?.error).toMatchObject({
    message: 'the program is gone: it was ended by SIGSEGV',
  });
  expect((await fleet.payloads(id, 'turn.ended')).map(({ stop_reason: end }) => end)).toEqual(['error', 'error']);
  await fleet.send(id, message('And now?'));
  const next = await programs.wait(1);
  expect(next.options.resume).toBe('c1');
  // What an earlier process had begun is the same thread.
  next.emit(turnBegins, begins(), callsAgent('a2'), opens('k1', 'a2'), ends(), leaves('k1'), gives('a2'), turnEnds);
  await fleet.rest(id, seq);
  expect(await fleet.payloads(id, 'session.thread_created')).toHaveLength(1);
});

it('[J25] a crash of the server ends open work with an error, approvals included, and runs nothing again', async () => {
  const first = createTestPrograms();
  const fleet = await openFleet({ programs: first, isChecked: false });
  const id = await fleet.begin(main, 'Go.');
  const program = await first.wait();
  program.emit(
    { type: 'opened', key: 'main', conversation: 'c1', version: null },
    turnBegins,
    begins(),
    calls('b1', 'ask'),
    ends(),
  );
  await fleet.rest(id);
  const second = createTestPrograms();
  const restarted = await crash(fleet, ({ type }) => type === 'session.status_idle', {
    programs: second,
    isChecked: true,
  });
  await restarted.send(id, message('And now?'));
  const next = await second.wait();
  expect(next.options.resume).toBe('c1');
  expect(next.heard).toEqual(['say And now?']);
  next.emit(turnBegins, turnEnds);
  await restarted.until(id, ({ type, payload }) => type === 'turn.ended' && payload.ok);
  expect((await restarted.payloads(id, 'session.error'))[0]).toMatchObject({ retry: 'exhausted' });
  expect((await restarted.payloads(id, 'agent.tool_result'))[0]).toMatchObject({
    is_interrupted: true,
    closes_ask: expect.any(String),
  });
});

it('[J26] a turn is not over while a message is pending, and a sub-agent in the background does not keep the main thread from being idle', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(main, 'Go.');
  const program = await programs.wait();
  program.emit(turnBegins, { type: 'turn_ended', key: 'main', outcome: { type: 'done' }, isMoreToCome: true });
  program.emit(turnBegins, begins(), callsAgent('a1'), opens('k1', 'a1'), ends(), gives('a1'), turnEnds);
  await fleet.until(id, ({ type }) => type === 'turn.ended');
  expect((await fleet.state(id)).status).toBe('running');
  program.emit(
    leaves('k1'),
    { type: 'turn_expected', key: 'main' },
    turnBegins,
    begins(),
    says('Read.'),
    ends(),
    turnEnds,
  );
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'run.started')).toHaveLength(1);
  expect((await fleet.payloads(id, 'turn.ended')).map(({ ok }) => ok)).toEqual([true, true, true]);
});

it('[J27] streamed blocks are deltas under the id of their event, which has the whole block', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(main, 'Go.');
  const program = await programs.wait();
  const grows = (block: string, text: string) => ({ type: 'block_delta' as const, key: 'main', block, text });
  program.emit(
    turnBegins,
    begins(),
    { type: 'block_started', key: 'main', block: 'b', kind: 'text' },
    grows('b', 'One '),
  );
  program.emit(grows('b', 'two'), {
    type: 'block_ended',
    key: 'main',
    block: 'b',
    content: { type: 'text', text: 'One two three.' },
  });
  program.emit(ends(), turnEnds);
  await fleet.rest(id);
  const frames = await fleet.frames(id);
  const deltas = frames.flatMap((frame) => (frame.type === 'delta.text' ? [frame.payload] : []));
  const [whole] = await fleet.payloads(id, 'agent.message');
  expect(deltas.map(({ text }) => text).join('')).toBe('One two three.');
  expect(new Set(deltas.map((delta) => delta.id))).toEqual(new Set([whole!.id]));
});

it('[J260] three blocks of one answer that are open at the same time have three event ids, and the deltas under each add up to its event', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(main, 'Go.');
  const program = await programs.wait();
  const starts = (block: string) => ({ type: 'block_started', key: 'main', block, kind: 'text' }) as const;
  const grows = (block: string, text: string) => ({ type: 'block_delta', key: 'main', block, text }) as const;
  const whole = (block: string, text: string) =>
    ({ type: 'block_ended', key: 'main', block, content: { type: 'text', text } }) as const;
  program.emit(turnBegins, begins(), starts('a'), grows('a', 'A1 '), starts('b'), grows('b', 'B1 '), whole('a', 'A1 '));
  // The first has ended, the second is still open when the third begins.
  program.emit(starts('c'), grows('c', 'C1 '), grows('b', 'B2 '), whole('b', 'B1 B2 '), whole('c', 'C1 '));
  program.emit(ends(), turnEnds);
  await fleet.rest(id);
  const grown = new Map<string, string>();
  for (const { type, payload } of await fleet.frames(id)) {
    if (type === 'delta.text') grown.set(payload.id, (grown.get(payload.id) ?? '') + payload.text);
  }
  const messages = await fleet.payloads(id, 'agent.message');
  expect(messages.map((each) => [each.id, each.content[0]!.text])).toEqual([...grown]);
  expect([...grown.values()]).toEqual(['A1 ', 'B1 B2 ', 'C1 ']);
});

it('[J28] an exhausted budget stops the program, and later messages do not reach it', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const budget = { cost_nano_usd: null, tokens: 20, requests: null, wall_ms: null };
  const id = await fleet.begin(main, 'Go.', { budget });
  const program = await programs.wait();
  program.emit(turnBegins);
  await fleet.until(id, ({ type }) => type === 'user.message');
  await new Promise((resolve) => setTimeout(resolve, 20));
  program.emit(begins(), calls('b1', 'allow'), ends(), gives('b1'), begins(), calls('b2', 'allow'), ends());
  await vi.waitFor(() => expect(program.heard).toEqual(['say Go.', 'interrupt']), 20_000);
  program.emit({ type: 'turn_ended', key: 'main', outcome: { type: 'stopped' }, isMoreToCome: false });
  const { seq } = await fleet.rest(id);
  expect((await fleet.payloads(id, 'turn.ended'))[0]).toMatchObject({
    stop_reason: 'limit',
    error: 'the budget is used up',
  });
  await fleet.send(id, message('And now?'));
  await fleet.rest(id, seq);
  expect(program.heard).toEqual(['say Go.', 'interrupt']);
  expect((await fleet.payloads(id, 'turn.ended'))[1]).toMatchObject({ stop_reason: 'limit' });
});

it('[J29] a definition that was changed holds from the next message on, in the same conversation', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(main, 'Go.');
  const program = await programs.wait();
  program.emit({ type: 'opened', key: 'main', conversation: 'c1', version: null }, turnBegins, turnEnds);
  const { seq } = await fleet.rest(id);
  const tools = [{ type: 'custom', name: 'look', description: 'Looks', input_schema: { type: 'object' } }] as const;
  await fleet.sessions.update({ workspaceId, sessionId: id, agent: (before) => ({ ...before, tools }) });
  await vi.waitFor(() => expect(program.heard.at(-1)).toBe('close'), 20_000);
  await fleet.send(id, message('And now?'));
  const next = await programs.wait(1);
  expect(next.options).toMatchObject({ resume: 'c1', agent: { tools } });
  next.emit(turnBegins, turnEnds);
  await fleet.rest(id, seq + 1);
});

it('[J29] a message that comes before the program with the old definition has left waits for the next one', async () => {
  const programs = createTestPrograms({ isDeaf: true });
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(main, 'Go.');
  const program = await programs.wait();
  program.emit({ type: 'opened', key: 'main', conversation: 'c1', version: null }, turnBegins, turnEnds);
  const { seq } = await fleet.rest(id);
  await fleet.sessions.update({ workspaceId, sessionId: id, agent: (before) => ({ ...before, system: 'Changed.' }) });
  expect(program.heard.at(-1)).toBe('close');
  await fleet.send(id, message('And now?'));
  await fleet.until(id, ({ type, payload }) => type === 'turn.started' && payload.task === 'And now?');
  program.exit('it ended with exit code 0');
  const next = await programs.wait(1);
  await vi.waitFor(() => expect(next.heard).toEqual(['say And now?']), 20_000);
  next.emit(turnBegins, begins(), says('Here.'), ends(), turnEnds);
  await fleet.rest(id, seq + 1);
  expect(await fleet.payloads(id, 'session.error')).toEqual([]);
  expect((await fleet.payloads(id, 'turn.ended')).map(({ ok }) => ok)).toEqual([true, true]);
  next.exit('it ended with exit code 0');
});

it('[J30] an environment with self-hosted tools starts no program, and the turn has the reason', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(main, 'Go.', { environment: { id: 'env_1', type: 'self_hosted' } });
  await fleet.rest(id);
  expect(programs.opened).toEqual([]);
  expect((await fleet.payloads(id, 'session.error'))[0]).toMatchObject({
    error: { message: expect.stringContaining('this environment'), reason: 'program_unavailable' },
  });
});

it('[J30] the program gets the network rules of the environment', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  await fleet.begin(main, 'Go.', { environment: { id: 'env_1', type: 'cloud', networking: limited } });
  expect((await programs.wait()).options.networking).toEqual(limited);
});

it('[J187] an approval that the program withdraws is closed, the others stay, and a decision comes too late', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(main, 'Go.');
  const program = await programs.wait();
  program.emit(turnBegins, begins(), calls('b1', 'ask'), calls('b2', 'ask'), ends());
  const { seq } = await fleet.rest(id);
  const uses = await fleet.payloads(id, 'agent.tool_use');
  const [first, second] = uses.map((use) => use.id);
  program.emit({ type: 'ask_withdrawn', key: 'main', callId: 'b1' });
  await fleet.rest(id, seq);
  expect((await fleet.payloads(id, 'agent.tool_result'))[0]).toMatchObject({
    tool_use_id: first,
    is_interrupted: true,
  });
  expect((await fleet.payloads(id, 'session.status_idle')).at(-1)).toMatchObject({
    stop_reason: { type: 'requires_action', event_ids: [second] },
  });
  await expect(fleet.send(id, confirm(first!))).rejects.toThrow(/was withdrawn because the call was interrupted/);
  await fleet.send(id, confirm(second!));
  await vi.waitFor(() => expect(program.heard).toEqual(['say Go.', 'allow b2']), 20_000);
  program.emit(gives('b2'), turnEnds);
  await fleet.until(id, ({ type }) => type === 'run.ended');
});

it('[J173] changes of model and permission mode in the metadata are sent to the program at any time, and to the next one', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(main, 'Go.');
  const program = await programs.wait();
  program.emit({ type: 'opened', key: 'main', conversation: 'c1', version: null }, turnBegins, begins());
  const steer = (metadata: Record<string, string>) => fleet.sessions.update({ workspaceId, sessionId: id, metadata });
  await steer({ 'claude_code.model': 'opus', other: 'x' });
  await steer({ 'claude_code.model': 'opus', 'claude_code.permission_mode': 'plan', other: 'y' });
  expect(program.heard).toEqual(['say Go.', 'model opus', 'mode plan']);
  program.exit('it was ended by SIGSEGV');
  const { seq } = await fleet.rest(id);
  await fleet.send(id, message('And now?'));
  const next = await programs.wait(1);
  await vi.waitFor(() => expect(next.heard).toEqual(['model opus', 'mode plan', 'say And now?']), 20_000);
  await steer({});
  expect(next.heard.slice(3)).toEqual(['model null', 'mode default']);
  next.emit(turnBegins, turnEnds);
  await fleet.rest(id, seq + 1);
});
