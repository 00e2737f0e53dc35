import { appendFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { expect, it, onTestFinished } from 'vitest';
import { limits } from '../../../base/limits.ts';
import { SilentAgents } from './silent-agents.ts';

it('[J278] the transcript of an agent that has completed is waited for 5 s, looked for every 25 ms, and then missing', async () => {
  const { agents, looks } = await follow();
  await agents.before(started('a2', 'c2'));
  expect(await agents.before(ended('a2', 'completed'))).toEqual({ lines: [], missing: ['a2'] });
  const { transcriptWaitMs, transcriptPollMs } = limits;
  expect([transcriptWaitMs, transcriptPollMs]).toEqual([5_000, 25]);
  expect(looks()).toBe(transcriptWaitMs / transcriptPollMs);
  // The end is said twice.
  expect(agents.before(ended('a2', 'completed'))).toBeUndefined();
});

it('[J278] of an agent that was stopped before it wrote anything no transcript is waited for', async () => {
  const { agents, looks } = await follow();
  await agents.before(started('a2', 'c2'));
  expect(await agents.before(ended('a2', 'killed'))).toEqual({ lines: [], missing: [] });
  expect(looks()).toBe(0);
});

it('[J278] a program that has ended writes no more: what is there is taken at once', async () => {
  const { agents, write, looks } = await follow();
  await agents.before(started('a2', 'c2'));
  await write('a2', answer('m1', { type: 'text', text: 'Half' }, null));
  agents.stop();
  const recovered = await agents.rest();
  expect(recovered?.lines).toHaveLength(1);
  expect(await agents.before(ended('a2', 'completed'))).toMatchObject({ lines: [], missing: [] });
  expect(looks()).toBe(0);
});

it('[J278] a transcript without an end is complete when it was quiet for 2 s, of agents that were stopped for 0.5 s together', async () => {
  const { agents, write } = await follow(limits.transcriptPollMs);
  await agents.before(printed('c1', 'c2'));
  for (const id of ['a1', 'a2', 'a3']) {
    await agents.before(started(id, 'c2'));
    await write(id, answer('m1', { type: 'text', text: 'Half' }, null));
  }
  const { transcriptQuietMs, transcriptStoppedMs } = limits;
  expect([transcriptQuietMs, transcriptStoppedMs]).toEqual([2_000, 500]);
  const took = async (line: StreamJsonMessage) => {
    const startedAt = Date.now();
    expect((await agents.before(line))?.lines).toHaveLength(1);
    return Date.now() - startedAt;
  };
  // The clocks of files are coarser than ours.
  expect(await took(ended('a1', 'killed'))).toBeGreaterThanOrEqual(transcriptStoppedMs - 20);
  expect(await took(ended('a2', 'killed'))).toBeLessThan(transcriptStoppedMs);
  expect(await took(ended('a3', 'completed'))).toBeGreaterThanOrEqual(transcriptQuietMs - 20);
});

it('[J278] a transcript in which a call has no result is not complete, however quiet it is', async () => {
  const { agents, write, looks } = await follow();
  await agents.before(started('a2', 'c2'));
  await write('a2', answer('m1', call('c9'), 'tool_use'));
  const ending = agents.before(ended('a2', 'completed'));
  await expect.poll(looks).toBeGreaterThan(1);
  await write('a2', result('c9'));
  await write('a2', answer('m2', { type: 'text', text: 'Done.' }, 'end_turn'));
  expect((await ending)?.lines.map(({ type }) => type)).toEqual(['assistant', 'user', 'assistant']);
});

it('[J275] an agent whose lines are printed, or that the main agent has started, is not read', async () => {
  const { agents, write } = await follow();
  await write('a1', answer('m1', { type: 'text', text: 'Printed' }, 'end_turn'));
  await agents.before(printed(null, 'c1'));
  await agents.before(started('a1', 'c1'));
  expect(agents.before(ended('a1', 'completed'))).toBeUndefined();
  await agents.before(printed('c1', 'c2'));
  await agents.before(started('a2', 'c2'));
  await agents.before(printed('c2', 'c3'));
  expect(agents.before(ended('a2', 'completed'))).toBeUndefined();
  expect(agents.rest()).toBeUndefined();
});

it('[J275] a transcript gives answers, and results of calls of its own agent, under the name of that agent only', async () => {
  const { agents, write } = await follow();
  await agents.before(started('a2', 'c2'));
  await write('a2', { type: 'user', uuid: 'u0', message: { role: 'user', content: 'Go.' } });
  await write('a2', { type: 'control_request', request: { subtype: 'can_use_tool' } });
  await write('a2', { ...answer('m1', call('c9'), 'tool_use'), parent_tool_use_id: null, agent_id: 'main' });
  await write('a2', result('c9'));
  await write('a2', result('c1'));
  await write('a2', answer('m2', { type: 'text', text: 'Done.' }, 'end_turn'));
  const recovered = await agents.before(ended('a2', 'completed'));
  expect(recovered?.lines).toMatchObject([
    { type: 'assistant', parent_tool_use_id: 'c2', agent_id: 'a2' },
    { type: 'user', message: { content: [{ tool_use_id: 'c9' }] }, parent_tool_use_id: 'c2', agent_id: 'a2' },
    { type: 'assistant', message: { id: 'm2' } },
  ]);
  expect(recovered?.lines).toHaveLength(3);
});

it('[J275] the report of an agent waits for the end of that agent, which may be silent too', async () => {
  const { agents, write } = await follow();
  await agents.before(printed('c1', 'c2'));
  await agents.before(started('a2', 'c2'));
  await agents.before(started('a3', 'c3'));
  await write('a2', answer('m1', call('c3'), 'tool_use'));
  await write('a2', result('c3'));
  await write('a3', answer('m2', { type: 'text', text: 'Below' }, 'end_turn'));
  const first = await agents.before(ended('a3', 'completed'));
  expect(first?.lines.map(({ agent_id: id, type }) => `${id} ${type}`)).toEqual(['a2 assistant', 'a3 assistant']);
  await write('a2', answer('m3', { type: 'text', text: 'Above' }, 'end_turn'));
  const second = await agents.before(ended('a2', 'completed'));
  expect(second?.lines.map(({ agent_id: id, type }) => `${id} ${type}`)).toEqual(['a2 user', 'a2 assistant']);
});

/** A directory of transcripts, and waits that are over at once, or after so long. */
async function follow(pollMs = 0) {
  const projects = await mkdtemp(join(tmpdir(), 'fleetloom-silent-'));
  onTestFinished(() => rm(projects, { recursive: true, force: true }));
  const folder = join(projects, '-work', 'conversation', 'subagents');
  let looks = 0;
  const schedule = (run: () => void) => {
    looks++;
    setTimeout(run, pollMs);
    return () => {};
  };
  return {
    agents: new SilentAgents({ projects, schedule, sizes: new Map() }),
    looks: () => looks,
    write: async (agentId: string, line: object) => {
      await mkdir(folder, { recursive: true });
      await appendFile(join(folder, `agent-${agentId}.jsonl`), `${JSON.stringify(line)}\n`);
    },
  };
}

const session_id = 'conversation';

function started(task_id: string, tool_use_id: string): StreamJsonMessage {
  return { type: 'system', subtype: 'task_started', task_type: 'local_agent', task_id, tool_use_id, session_id };
}

function ended(task_id: string, status: string): StreamJsonMessage {
  return { type: 'system', subtype: 'task_updated', task_id, patch: { status }, session_id };
}

/** A line that the program prints, with a call in it. */
function printed(parent_tool_use_id: string | null, callId: string): StreamJsonMessage {
  return { ...answer('m0', call(callId), 'tool_use'), parent_tool_use_id };
}

function call(id: string) {
  return { type: 'tool_use', id, name: 'Agent', input: {} };
}

function result(tool_use_id: string) {
  return { type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id, content: 'ok' }] } };
}

function answer(id: string, block: object, stop_reason: string | null): StreamJsonMessage {
  return { type: 'assistant', message: { id, model: 'x', content: [block as never], stop_reason } };
}
