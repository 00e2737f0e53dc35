import { appendFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { expect, it, onTestFinished } from 'vitest';
import { measureHarm } from '../../../../../../../test/support/measure-harm.ts';
import { programLimits } from '../../limits.ts';
import { blocksOf } from './silent-agent.ts';
import { SilentAgents } from './silent-agents.ts';

it('[J278] the transcript of an agent that has completed is waited for 5 s, looked for every 25 ms, and then missing', async () => {
  const { agents, after, looks } = await follow();
  await agents.before(started('a2', 'c2'));
  expect(await after(ended('a2', 'completed'))).toEqual({ lines: [], problems: ['a2 missing'] });
  const { transcriptWaitMs, transcriptPollMs } = programLimits;
  expect([transcriptWaitMs, transcriptPollMs]).toEqual([5_000, 25]);
  expect(looks()).toBe(transcriptWaitMs / transcriptPollMs);
  // The end is said twice.
  expect(agents.before(ended('a2', 'completed'))).toBeUndefined();
});

it('[J278] of an agent that was stopped before it wrote anything no transcript is waited for', async () => {
  const { agents, after, looks } = await follow();
  await agents.before(started('a2', 'c2'));
  expect(await after(ended('a2', 'killed'))).toEqual({ lines: [], problems: [] });
  expect(looks()).toBe(0);
});

it('[J278] a program that has ended writes no more: what is there is taken at once', async () => {
  const { agents, after, taken, write, looks } = await follow();
  await agents.before(started('a2', 'c2'));
  await write('a2', answer('m1', { type: 'text', text: 'Half' }, null));
  agents.stop();
  await agents.rest();
  expect(taken()).toMatchObject({ lines: [{ type: 'assistant' }], problems: [] });
  expect(await after(ended('a2', 'completed'))).toEqual({ lines: [], problems: [] });
  expect(looks()).toBe(0);
});

it('[J278] a transcript without an end is complete when it was quiet for 2 s, of agents that were stopped for 0.5 s together', async () => {
  const { agents, after, write } = await follow(programLimits.transcriptPollMs);
  await agents.before(printed('c1', 'c2'));
  for (const id of ['a1', 'a2', 'a3']) {
    await agents.before(started(id, 'c2'));
    await write(id, answer('m1', { type: 'text', text: 'Half' }, null));
  }
  const { transcriptQuietMs, transcriptStoppedMs } = programLimits;
  expect([transcriptQuietMs, transcriptStoppedMs]).toEqual([2_000, 500]);
  const took = async (line: StreamJsonMessage) => {
    const startedAt = Date.now();
    expect((await after(line)).lines).toHaveLength(1);
    return Date.now() - startedAt;
  };
  // The clocks of files are coarser than ours.
  expect(await took(ended('a1', 'killed'))).toBeGreaterThanOrEqual(transcriptStoppedMs - 20);
  expect(await took(ended('a2', 'killed'))).toBeLessThan(transcriptStoppedMs);
  expect(await took(ended('a3', 'completed'))).toBeGreaterThanOrEqual(transcriptQuietMs - 20);
});

it('[J278] a transcript in which a call has no result is not complete, however quiet it is', async () => {
  const { agents, after, write, looks } = await follow();
  await agents.before(started('a2', 'c2'));
  await write('a2', answer('m1', call('c9'), 'tool_use'));
  const ending = after(ended('a2', 'completed'));
  await expect.poll(looks).toBeGreaterThan(1);
  await write('a2', result('c9'));
  await write('a2', answer('m2', { type: 'text', text: 'Done.' }, 'end_turn'));
  expect((await ending).lines.map(({ type }) => type)).toEqual(['assistant', 'user', 'assistant']);
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

it('[J505] a message to an agent whose lines are printed is taken before the first line of the answer behind it, once', async () => {
  const { agents, after, write } = await follow();
  await works(agents);
  expect([agents.isAwaiting('a1'), agents.before(line('m0', 'u0'))]).toEqual([false, undefined]);
  await agents.before(sentTo('a1'));
  expect(agents.isAwaiting('a1')).toBe(true);
  await write('a1', { ...answer('m1', { type: 'text', text: 'One' }, null), uuid: 'u1' });
  await write('a1', received('Think of this.'));
  await write('a1', { ...answer('m2', { type: 'text', text: 'Two' }, null), uuid: 'u2' });
  expect(await after(line('m1', 'u1'))).toMatchObject({ lines: [] });
  expect(await after(line('m2', 'u2'))).toMatchObject({ lines: [{ type: 'user' }] });
});

it('[J505] the record of an answer is waited for, and messages behind it belong to a later one', async () => {
  const { agents, after, looks, write } = await follow();
  await works(agents);
  await agents.before(sentTo('a1'));
  const answered = after(line('m1', 'u1'));
  await expect.poll(looks).toBeGreaterThan(1);
  await write('a1', { ...answer('m1', { type: 'text', text: 'One' }, null), uuid: 'u1' });
  await write('a1', received('Think of this.'));
  expect((await answered).lines).toEqual([]);
  expect(agents.before(line('m1', 'u1b'))).toBeUndefined();
  await write('a1', { ...answer('m2', { type: 'text', text: 'Two' }, null), uuid: 'u2' });
  const { lines } = await after(line('m2', 'u2'));
  expect(lines).toMatchObject([{ agent_id: 'a1', parent_tool_use_id: 'c1', is_thread_message: true }]);
  expect(blocksOf(lines[0]!)).toEqual([{ type: 'text', text: 'Think of this.' }]);
  expect([agents.isAwaiting('a1'), agents.before(line('m3', 'u3'))]).toEqual([false, undefined]);
});

it('[J505] a message that an agent has received is taken when the agent ends, and a record that does not come is waited for 5 s', async () => {
  const { agents, after, looks, write } = await follow();
  await works(agents);
  await agents.before(sentTo('a1'));
  await agents.before(sentTo('a1'));
  await write('a1', received('Think of this.'));
  expect((await after(line('m1', 'u1'))).lines).toHaveLength(1);
  expect(looks()).toBe(programLimits.transcriptWaitMs / programLimits.transcriptPollMs);
  const origin = { kind: 'peer', from: 'a0', body: 'And of that.' };
  const prompt = '<agent-message from="a0">\nAnd of that.\n</agent-message>';
  await write('a1', { type: 'attachment', attachment: { type: 'queued_command', prompt, origin } });
  const { lines } = await after(ended('a1', 'killed'));
  expect(lines.flatMap((each) => blocksOf(each))).toEqual([{ type: 'text', text: 'And of that.' }]);
  await write('a1', received('Never.'));
  expect(agents.before(ended('a1', 'killed'))).toBeUndefined();
});

it('[J345] while the agent that started one is not known, its transcript is not read for the sake of another one', async () => {
  const { agents, after, write } = await follow();
  await agents.before(printed('c1', 'c2'));
  await agents.before(started('a2', 'c2'));
  await agents.before(started('a3', 'c3'));
  await agents.before(started('a4', 'c4'));
  await write('a3', answer('m3', { type: 'text', text: 'Below' }, 'end_turn'));
  // The call that started a3 is not in the transcript of a2 yet.
  expect((await after(ended('a4', 'killed'))).lines).toEqual([]);
  await write('a2', answer('m2', call('c3'), 'tool_use'));
  const { lines } = await after(ended('a3', 'completed'));
  expect(lines.map(({ agent_id: id }) => id)).toEqual(['a2', 'a3']);
});

it('[J275] a transcript gives answers, and results of calls of its own agent, under the name of that agent only', async () => {
  const { agents, after, write } = await follow();
  await agents.before(started('a2', 'c2'));
  await write('a2', { type: 'user', uuid: 'u0', message: { role: 'user', content: 'Go.' } });
  await write('a2', { type: 'control_request', request: { subtype: 'can_use_tool' } });
  await write('a2', { ...answer('m1', call('c9'), 'tool_use'), parent_tool_use_id: null, agent_id: 'main' });
  await write('a2', result('c9'));
  await write('a2', result('c1'));
  await write('a2', answer('m2', { type: 'text', text: 'Done.' }, 'end_turn'));
  const recovered = await after(ended('a2', 'completed'));
  expect(recovered.lines).toMatchObject([
    { type: 'assistant', parent_tool_use_id: 'c2', agent_id: 'a2' },
    { type: 'user', message: { content: [{ tool_use_id: 'c9' }] }, parent_tool_use_id: 'c2', agent_id: 'a2' },
    { type: 'assistant', message: { id: 'm2' } },
  ]);
  expect(recovered.lines).toHaveLength(3);
});

it('[J275] the report of an agent waits for the end of that agent, which may be silent too', async () => {
  const { agents, after, write } = await follow();
  await agents.before(printed('c1', 'c2'));
  await agents.before(started('a2', 'c2'));
  await agents.before(started('a3', 'c3'));
  await write('a2', answer('m1', call('c3'), 'tool_use'));
  await write('a2', result('c3'));
  await write('a3', answer('m2', { type: 'text', text: 'Below' }, 'end_turn'));
  const first = await after(ended('a3', 'completed'));
  expect(first.lines.map(({ agent_id: id, type }) => `${id} ${type}`)).toEqual(['a2 assistant', 'a3 assistant']);
  await write('a2', answer('m3', { type: 'text', text: 'Above' }, 'end_turn'));
  const second = await after(ended('a2', 'completed'));
  expect(second.lines.map(({ agent_id: id, type }) => `${id} ${type}`)).toEqual(['a2 user', 'a2 assistant']);
});

it('[J501] a look for a call that no line has reads what silent agents have written by now, up to reports of agents that still run', async () => {
  const { agents, taken, write } = await follow();
  expect(agents.look('c9')).toBeUndefined();
  await agents.before(printed('c1', 'c2'));
  await agents.before(started('a2', 'c2'));
  await agents.before(started('a3', 'c3'));
  await agents.look('c9');
  expect([agents.isKnown('c9'), taken().lines]).toEqual([false, []]);
  await write('a2', answer('m1', call('c3'), 'tool_use'));
  await write('a3', answer('m2', call('c9'), 'tool_use'));
  await write('a2', result('c3'));
  await agents.look('c9');
  const { lines, problems } = taken();
  expect(lines.map(({ agent_id: id, type }) => `${id} ${type}`)).toEqual(['a2 assistant', 'a3 assistant']);
  expect([agents.isKnown('c9'), problems, agents.look('c9')]).toEqual([true, [], undefined]);
});

const HOSTILE = {
  'records of 30,000 empty blocks': `{"type":"assistant","message":{"content":[${'{},'.repeat(29_999)}{}]}}\n`,
  'empty records': '{"type":"assistant","message":{}}\n',
  'records with a stop reason': '{"type":"assistant","message":{"stop_reason":"tool_use"}}\n',
  'lines that are not JSON': '{x\n',
  'records of 1,000 short texts': `{"type":"assistant","message":{"id":"m","content":[${'{"type":"text","text":"a"},'.repeat(999)}{"type":"text","text":"a"}]}}\n`,
};

for (const [what, line] of Object.entries(HOSTILE)) {
  it(`[J288] 250 MB of ${what} hold the event loop for less than 50 ms, stay out of memory, and end in one error`, async () => {
    const { agents, after, write, append } = await follow();
    await agents.before(started('a2', 'c2'));
    await write('a2', answer('m1', { type: 'text', text: 'Real' }, null));
    await append('a2', line, 250_000_000);
    const { result, stallMs, grownMib } = await measureHarm(() => after(ended('a2', 'completed')));
    expect(result.lines[0]).toMatchObject({ message: { id: 'm1' } });
    expect(result.lines.length).toBeLessThanOrEqual(programLimits.transcriptBlocksMax);
    expect(result.problems.filter((problem) => problem === 'a2 too_large')).toHaveLength(1);
    expect(agents.before(ended('a2', 'completed'))).toBeUndefined();
    // 50 ms are promised. A busy machine may count some of its own.
    expect(stallMs).toBeLessThan(120);
    expect(grownMib).toBeLessThan(256);
  }, 60_000);
}

it('[J288] 20,000 content blocks of a transcript are taken, and one more ends in an error', async () => {
  const { agents, after, write, append } = await follow();
  expect([programLimits.transcriptBlocksMax, programLimits.transcriptRecordBlocksMax]).toEqual([20_000, 1_000]);
  const texts = (count: number) => ({
    ...answer('m1', {}, null),
    message: { id: 'm1', content: Array.from({ length: count }, () => ({ type: 'text', text: 'a' })) },
  });
  for (const id of ['a2', 'a3']) {
    await agents.before(printed('c1', `c-${id}`));
    await agents.before(started(id, `c-${id}`));
    const line = `${JSON.stringify(texts(1_000))}\n`;
    await append(id, line, 20 * line.length);
  }
  await write('a3', texts(1));
  await write('a2', texts(0));
  agents.stop();
  const [all, cut] = [await after(ended('a2', 'completed')), await after(ended('a3', 'completed'))];
  expect([all.lines.length, all.problems]).toEqual([20, []]);
  expect([cut.lines.length, cut.problems]).toEqual([20, ['a3 too_large']]);
  await agents.before(started('a4', 'c4'));
  await write('a4', texts(1_001));
  await write('a4', answer('m2', { type: 'text', text: 'Done.' }, 'end_turn'));
  expect(await after(ended('a4', 'completed'))).toMatchObject({
    lines: [{ message: { id: 'm2' } }],
    problems: ['a4 record_too_large'],
  });
});

it('[J288] a call with an id of more than 256 characters is left out', async () => {
  const { agents, after, write } = await follow();
  const { transcriptIdCharsMax } = programLimits;
  await agents.before(started('a2', 'c2'));
  await write('a2', answer('m1', call('i'.repeat(transcriptIdCharsMax)), 'tool_use'));
  await write('a2', result('i'.repeat(transcriptIdCharsMax)));
  await write('a2', answer('m2', call('i'.repeat(transcriptIdCharsMax + 1)), 'end_turn'));
  const { lines } = await after(ended('a2', 'completed'));
  expect(lines.map((line) => blocksOf(line).length)).toEqual([1, 1, 0]);
  expect(transcriptIdCharsMax).toBe(256);
});

it('[J288] no more of a transcript is read while what was read has no room', async () => {
  const rooms: (() => void)[] = [];
  const { agents, write, taken } = await follow(0, () => new Promise((resolve) => rooms.push(resolve)));
  await agents.before(started('a2', 'c2'));
  await write('a2', answer('m1', { type: 'text', text: 'One' }, null));
  await write('a2', answer('m2', { type: 'text', text: 'Two' }, 'end_turn'));
  const ending = agents.before(ended('a2', 'completed'));
  for (const id of ['m1', 'm2']) {
    await expect.poll(() => rooms.length).toBe(1);
    expect(taken().lines).toMatchObject([{ message: { id } }]);
    rooms.shift()!();
  }
  await ending;
});

it('[J288] a failure while a transcript is read is an error of its agent, and so is a transcript that cannot be opened', async () => {
  const { agents, after, write, folder } = await follow(0, () => {
    throw new Error('no');
  });
  await agents.before(started('a2', 'c2'));
  await write('a2', answer('m1', { type: 'text', text: 'One' }, 'end_turn'));
  agents.stop();
  expect((await after(ended('a2', 'completed'))).problems).toEqual(['a2 unreadable']);
  await agents.before(started('a3', 'c3'));
  await write('a3', { type: 'user', message: { role: 'user', content: 'Go.' } });
  await agents.rest();
  await rm(join(folder, 'agent-a3.jsonl'));
  await symlink('/etc/passwd', join(folder, 'agent-a3.jsonl'));
  expect((await after(ended('a3', 'completed'))).problems).toEqual(['a3 unreadable']);
});

/** A directory of transcripts, and waits that are over at once, or after so long. */
async function follow(pollMs = 0, toRoom: () => Promise<void> | undefined = () => undefined) {
  const projects = await mkdtemp(join(tmpdir(), 'fleetloom-silent-'));
  onTestFinished(() => rm(projects, { recursive: true, force: true }));
  const folder = join(projects, '-work', 'conversation', 'subagents');
  let looks = 0;
  const schedule = (run: () => void) => {
    looks++;
    setTimeout(run, pollMs);
    return () => {};
  };
  let lines: StreamJsonMessage[] = [];
  let problems: string[] = [];
  const taken = () => {
    const all = { lines, problems };
    [lines, problems] = [[], []];
    return all;
  };
  const agents = new SilentAgents({
    projects,
    schedule,
    sizes: new Map(),
    take: (line) => (lines.push(line), toRoom()),
    onProblem: (taskId, problem) => void problems.push(`${taskId} ${problem}`),
  });
  const append = async (agentId: string, text: string, bytes = text.length) => {
    await mkdir(folder, { recursive: true });
    const piece = text.repeat(Math.ceil(1_000_000 / text.length));
    const whole = bytes < piece.length ? text.repeat(Math.ceil(bytes / text.length)) : piece;
    for (let at = 0; at < bytes; at += whole.length) await appendFile(join(folder, `agent-${agentId}.jsonl`), whole);
  };
  return {
    agents,
    folder,
    taken,
    append,
    looks: () => looks,
    write: (agentId: string, line: object) => append(agentId, `${JSON.stringify(line)}\n`),
    /** What is taken before the line. */
    after: async (line: StreamJsonMessage) => {
      await agents.before(line);
      return taken();
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

/** An agent of the main agent has begun, and its lines are printed. */
async function works(agents: SilentAgents): Promise<void> {
  await agents.before(printed(null, 'c1'));
  await agents.before(started('a1', 'c1'));
}

function line(id: string, uuid: string): StreamJsonMessage {
  return { ...answer(id, { type: 'text', text: 'x' }, null), uuid, parent_tool_use_id: 'c1' };
}

/** The result of the call that sends an agent a message. */
function sentTo(id: string): StreamJsonMessage {
  return {
    ...result('c8'),
    parent_tool_use_id: null,
    tool_use_result: { success: true, message: 'Queued', pin: { id } },
  };
}

/** How a transcript has a message that its agent received while it worked. */
function received(prompt: string) {
  return { type: 'attachment', attachment: { type: 'queued_command', prompt, origin: { kind: 'coordinator' } } };
}
