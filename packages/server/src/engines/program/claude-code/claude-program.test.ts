import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createManualClock } from '../../../base/clock.ts';
import { programLimits } from '../limits.ts';
import { createManualSchedule } from '../../../base/manual-schedule.suite.ts';
import type { ProgramEvent } from '../program.ts';
import { openClaudeProgram, type ProgramGateway } from './claude-program.ts';
import type { AnswerEvent, GatewayEvent } from '../gateway/events.ts';
import { createProcessRegister } from '../process/process-register.ts';
import { noUsage } from './translate/usage.ts';

const call = { type: 'tool_use', id: 'toolu_1', name: 'Agent', input: {} };
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'launched' };
const launched = { agentId: 'a1', status: 'async_launched' };
const message = (content: object) => ({ id: 'm1', model: 'x', role: 'assistant', content: [content] });

/** A turn that leaves an agent in the background, and then the end of that agent. */
const background = [
  { type: 'system', subtype: 'init', session_id: 's1' },
  { type: 'assistant', parent_tool_use_id: null, uuid: 'u1', message: message(call) },
  { type: 'system', subtype: 'task_started', task_id: 'a1', tool_use_id: 'toolu_1', task_type: 'local_agent' },
  { type: 'user', parent_tool_use_id: null, uuid: 'u2', message: { content: [result] }, tool_use_result: launched },
  { type: 'result', subtype: 'success', is_error: false, uuid: 'u3', result: '' },
  { type: 'system', subtype: 'task_updated', task_id: 'a1', patch: { status: 'completed' } },
];

it('[J9] behind the end of a sub-agent in the background a turn is expected, for as long as the limit says', async () => {
  const { events, advance } = run(background);
  await vi.waitFor(() => expect(events.at(-1)?.type).toBe('turn_expected'), { timeout: 20_000 });
  advance(programLimits.programExpectMs - 1);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(events.at(-1)?.type).toBe('turn_expected');
  advance(1);
  await vi.waitFor(() => expect(events.at(-1)).toMatchObject({ type: 'turn_ended', isMoreToCome: false }), 20_000);
});

it('[J9] a turn that begins, or a program that reports that it is idle, ends the wait', async () => {
  const idle = { type: 'system', subtype: 'session_state_changed', state: 'idle' };
  const resting = run([...background, idle]);
  await vi.waitFor(() => expect(resting.events.at(-1)?.type).toBe('turn_ended'), { timeout: 20_000 });
  const going = run([...background, { type: 'system', subtype: 'init', session_id: 's1' }]);
  await vi.waitFor(() => expect(going.events.at(-1)?.type).toBe('turn_started'), { timeout: 20_000 });
  expect(going.waiting()).toBe(0);
});

it('[J9] an unknown request of the program is refused, so that it does not wait forever', async () => {
  const { said } = run([{ type: 'control_request', request_id: 'r1', request: { subtype: 'elicitation' } }]);
  await vi.waitFor(() => expect(said()).toContain('"request_id":"r1","error"'), { timeout: 20_000 });
});

it('[J172] output of a program is read in limited portions', async () => {
  const says = (at: number) => {
    const block = { type: 'text', text: 'word '.repeat(200) };
    return {
      type: 'assistant',
      parent_tool_use_id: null,
      uuid: `u${at}`,
      message: { ...message(block), id: `m${at}` },
    };
  };
  // All names have four digits, so all lines have one length.
  const lineBytes = JSON.stringify(says(1_000)).length + 1;
  const count = Math.ceil((4 * programLimits.programTakeBytesMax) / lineBytes);
  const lines = Array.from({ length: count }, (_, at) => says(1_000 + at));
  let read = () => {};
  const { batches, isSaid } = run(lines, new Promise<void>((resolve) => (read = resolve)));
  await vi.waitFor(() => expect(isSaid()).toBe(true), { timeout: 20_000 });
  read();
  await vi.waitFor(() => expect(batches.flat().filter(isBlock)).toHaveLength(count), { timeout: 20_000 });
  const taken = batches[0]!.filter(isBlock).length * lineBytes;
  // What comes out of a pipe at once stays together, and has at most 64 KiB.
  expect(taken).toBeLessThanOrEqual(programLimits.programTakeBytesMax);
  expect(taken).toBeGreaterThan(programLimits.programTakeBytesMax - 64 * 1024 - lineBytes);
});

it('[N60] a line that is too long, or has too many values, is passed over, and the next one is read', async () => {
  const line = (uuid: string, text: unknown) => {
    const block = { type: 'text', text };
    return { type: 'assistant', parent_tool_use_id: null, uuid, message: { ...message(block), id: uuid } };
  };
  const { programLineBytesMax, programLineValuesMax } = programLimits;
  const { events } = run([
    line('u1', 'x'.repeat(programLineBytesMax)),
    line(
      'u2',
      Array.from({ length: programLineValuesMax }, () => 0),
    ),
    line('u3', 'the next one'),
  ]);
  await vi.waitFor(() => expect(events.filter(isBlock)).toHaveLength(1), { timeout: 20_000 });
  expect(JSON.stringify(events)).toContain('the next one');
  expect([programLineBytesMax, programLineValuesMax]).toEqual([8_388_608, 100_000]);
});

it('[N61] a program that writes 64 MiB without any event is ended, and its exit names the reason', async () => {
  const { events } = run(
    [],
    Promise.resolve(),
    `const noise = 'noise'.repeat(13_000) + '\\n'; const more = () => process.stdout.write(noise, more); more()`,
  );
  await vi.waitFor(() => expect(events.at(-1)?.type).toBe('exited'), { timeout: 20_000 });
  expect(events.at(-1)).toMatchObject({
    message: 'it wrote more than 67108864 bytes without any event',
    isWanted: false,
  });
  expect(programLimits.programNoiseBytesMax).toBe(67_108_864);
});

it('[J340] text that the gateway saw while a line waits for a transcript is emitted after the lines before it', async () => {
  const spawn = (id: string) => ({ type: 'tool_use', id, name: 'Agent', input: {} });
  const task = (subtype: string, task_id: string, more: object) => ({ type: 'system', subtype, task_id, ...more });
  const started = (id: string, tool_use_id: string) =>
    task('task_started', id, { tool_use_id, task_type: 'local_agent', session_id: 's1' });
  const completed = (id: string) => task('task_updated', id, { patch: { status: 'completed' } });
  const says = (parent: string | null, uuid: string, id: string, content: object) => ({
    type: 'assistant',
    parent_tool_use_id: parent,
    uuid,
    message: { ...message(content), id },
  });
  const { gateway, see } = simulateGateway('a1');
  const lines = [
    { type: 'system', subtype: 'init', session_id: 's1' },
    says(null, 'u1', 'm1', spawn('c1')),
    started('a1', 'c1'),
    started('a2', 'c2'),
    started('a3', 'c3'),
    // The transcripts of both are waited for: the lines between them are taken behind the first and before the second wait.
    completed('a2'),
    says('c1', 'u2', 'm2', { type: 'tool_use', id: 'c9', name: 'Bash', input: {} }),
    { type: 'user', parent_tool_use_id: 'c1', uuid: 'u3', message: { content: [{ ...result, tool_use_id: 'c9' }] } },
    completed('a3'),
  ];
  const { events, advance, waiting } = run(lines, Promise.resolve(), undefined, gateway);
  const passWait = async () => {
    for (let look = 0; look < programLimits.transcriptWaitMs / programLimits.transcriptPollMs; look++) {
      await vi.waitFor(() => expect(waiting()).toBe(1), { timeout: 20_000, interval: 1 });
      advance(programLimits.transcriptPollMs);
    }
  };
  await vi.waitFor(() => expect(events.some(({ key }) => key === 'a1')).toBe(true), { timeout: 20_000 });
  see('m2', { type: 'begun', usage: noUsage });
  see('m2', { type: 'block_started', index: 0, block: 'tool_use', call: { id: 'c9', name: 'Bash' } });
  see('m2', { type: 'block_stopped', index: 0 });
  see('m2', { type: 'usage', usage: noUsage, stopReason: 'tool_use' });
  see('m2', { type: 'finished' });
  await passWait();
  await vi.waitFor(() => expect(waiting()).toBe(1), { timeout: 20_000, interval: 1 });
  see('m3', { type: 'begun', usage: noUsage });
  await passWait();
  const isLast = ({ type, key }: ProgramEvent) => type === 'thread_ended' && key === 'a3';
  await vi.waitFor(() => expect(events.some(isLast)).toBe(true), { timeout: 20_000 });
  const ofFirst = events.filter(({ key }) => key === 'a1').map(({ type }) => type);
  expect(ofFirst).toEqual(['thread_opened', 'request_started', 'call', 'request_ended', 'result', 'request_started']);
});

/** The gateway as the engine sees it: it reports answers to one agent. */
function simulateGateway(agentId: string) {
  let listener: (event: GatewayEvent) => void = () => {};
  const session = {
    baseURL: '',
    socketPath: null,
    servedUrl: '',
    environment: () => ({}),
    mcpUrlOf: () => '',
    whyUnreachable: () => null,
    close: () => {},
  };
  const gateway: ProgramGateway = { session, hear: (next) => void (listener = next) };
  const about = { sessionId: 's1', agentId, parentAgentId: null, model: 'm' };
  const see = (messageId: string, event: AnswerEvent) =>
    listener({ ...about, requestId: `request of ${messageId}`, messageId, event });
  return { gateway, see };
}

function isBlock({ type }: ProgramEvent): boolean {
  return type === 'block_ended';
}

/** A small program in place of the real one: it writes these lines, and records its input. */
function run(lines: readonly object[], reads = Promise.resolve(), otherCode?: string, gateway?: ProgramGateway) {
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-little-'));
  const path = join(folder, 'claude');
  const heard = join(folder, 'heard');
  const said = join(folder, 'said');
  const code =
    otherCode ??
    `process.stdin.pipe(require('node:fs').createWriteStream(${JSON.stringify(heard)}));
    process.stdout.write(require('node:fs').readFileSync(${JSON.stringify(`${path}.lines`)}), () =>
      require('node:fs').writeFileSync(${JSON.stringify(said)}, ''))`;
  writeFileSync(`${path}.lines`, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  writeFileSync(`${path}.cjs`, code);
  writeFileSync(path, `#!/bin/sh\nexec ${process.execPath} ${path}.cjs\n`);
  chmodSync(path, 0o700);
  const { schedule, advance, waiting } = createManualSchedule(createManualClock());
  const register = createProcessRegister(join(folder, 'programs'));
  const asked = { sessionId: 's', directory: folder, agent, members: [], depthMax: 1, known: [], resume: null };
  const env = { PATH: process.env['PATH'] ?? '' };
  const toLaunch = (args: readonly string[]) => ({ file: path, args, env, data: [], hasRelay: false });
  const transcripts = { projects: join(folder, 'projects'), sizes: new Map<string, number>() };
  const about = { ...asked, toLaunch, register, schedule, transcripts, gateway };
  const program = openClaudeProgram({ ...about, hearsNested: true, controls: [] });
  const events: ProgramEvent[] = [];
  const batches: (readonly ProgramEvent[])[] = [];
  const reading = (async () => {
    await reads;
    for await (const batch of program.events) {
      batches.push(batch);
      events.push(...batch);
    }
  })();
  onTestFinished(async () => {
    const { pid, isAlive } = program.vitals();
    if (pid !== null && isAlive) process.kill(pid, 'SIGKILL');
    await reading;
    rmSync(folder, { recursive: true, force: true });
  });
  const isSaid = () => existsSync(said);
  return {
    events,
    batches,
    isSaid,
    advance,
    waiting,
    said: () => (existsSync(heard) ? readFileSync(heard, 'utf8') : ''),
  };
}

const agent: AgentSnapshot = {
  type: 'agent',
  id: 'agent_1',
  version: 1,
  name: 'main',
  description: null,
  system: null,
  model: { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' },
  tools: [],
  mcp_servers: [],
  skills: [],
  execution_identity: { type: 'service_account' },
};
