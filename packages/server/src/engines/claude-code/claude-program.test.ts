import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import type { ProgramEvent } from '../program.ts';
import { openClaudeProgram } from './claude-program.ts';
import { createProcessRegister } from './process-register.ts';

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
  advance(limits.programExpectMs - 1);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(events.at(-1)?.type).toBe('turn_expected');
  advance(1);
  await vi.waitFor(() => expect(events.at(-1)).toMatchObject({ type: 'turn_ended', isMoreToCome: false }), 20_000);
});

it('[J9] a turn that comes, or a program that says that it rests, ends the wait', async () => {
  const idle = { type: 'system', subtype: 'session_state_changed', state: 'idle' };
  const resting = run([...background, idle]);
  await vi.waitFor(() => expect(resting.events.at(-1)?.type).toBe('turn_ended'), { timeout: 20_000 });
  const going = run([...background, { type: 'system', subtype: 'init', session_id: 's1' }]);
  await vi.waitFor(() => expect(going.events.at(-1)?.type).toBe('turn_started'), { timeout: 20_000 });
  expect(going.waiting()).toBe(0);
});

it('[J9] what the program wants of us and we do not know is refused, so that it does not wait for ever', async () => {
  const { said } = run([{ type: 'control_request', request_id: 'r1', request: { subtype: 'elicitation' } }]);
  await vi.waitFor(() => expect(said()).toContain('"request_id":"r1","error"'), { timeout: 20_000 });
});

it('[J172] of what a program has said meanwhile so much is taken at a time', async () => {
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
  const count = Math.ceil((4 * limits.programTakeBytesMax) / lineBytes);
  const lines = Array.from({ length: count }, (_, at) => says(1_000 + at));
  let read = () => {};
  const { batches, isSaid } = run(lines, new Promise<void>((resolve) => (read = resolve)));
  await vi.waitFor(() => expect(isSaid()).toBe(true), { timeout: 20_000 });
  read();
  await vi.waitFor(() => expect(batches.flat().filter(isBlock)).toHaveLength(count), { timeout: 20_000 });
  const taken = batches[0]!.filter(isBlock).length * lineBytes;
  // What comes out of a pipe at once stays together, and has at most 64 KiB.
  expect(taken).toBeLessThanOrEqual(limits.programTakeBytesMax);
  expect(taken).toBeGreaterThan(limits.programTakeBytesMax - 64 * 1024 - lineBytes);
});

it('[N60] a line that is too long, or has too many values, is passed over, and the next one is read', async () => {
  const line = (uuid: string, text: unknown) => {
    const block = { type: 'text', text };
    return { type: 'assistant', parent_tool_use_id: null, uuid, message: { ...message(block), id: uuid } };
  };
  const { programLineBytesMax, programLineValuesMax } = limits;
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
  expect(limits.programNoiseBytesMax).toBe(67_108_864);
});

function isBlock({ type }: ProgramEvent): boolean {
  return type === 'block_ended';
}

/** A little program in the place of the real one: it writes these lines, and down what it is told. */
function run(lines: readonly object[], reads = Promise.resolve(), otherCode?: string) {
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
  const program = openClaudeProgram({ ...asked, toLaunch, register, schedule, transcripts, hearsNested: true });
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
    if (program.pid !== undefined && program.vitals().isAlive) process.kill(program.pid, 'SIGKILL');
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
