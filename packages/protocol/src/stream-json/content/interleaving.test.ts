import { describe, expect, it } from 'vitest';
import type { RandomText } from '../../../../../bench/random-text.ts';
import { interleavedAgents } from '../../../../../bench/streams.ts';
import { translate } from '../../../../../test/support/lines.ts';
import { recordings } from '../../../../../test/support/recordings.ts';
import { isLong, randomText, seed, timeout } from '../../../../../test/support/seed.ts';
import type { AgentEvent } from '../wire/events.ts';
import type { StreamJsonMessage } from '../wire/messages.ts';
import { parseLine } from '../lines/parse-line.ts';

const ROUNDS = isLong ? 500 : 3;

/**
 * The lines of each agent stay in order, the task line that starts it again among them, and begin after the line that reports the
 * agent; beyond that any order will do.
 */
describe('agents that are interleaved differently', () => {
  it('[S32] emit the same text, each its own, in every recording', { timeout }, () => {
    const random = randomText();
    let mixed = 0;
    for (const recording of recordings().filter(({ name }) => /^2\.1\.(197|325)\//.test(name))) {
      const lines = messagesOf(new TextDecoder().decode(recording.bytes()).split('\n'));
      if (lines.every((line) => line.parent_tool_use_id === undefined || line.parent_tool_use_id === null)) continue;
      expectSame(recording.name, lines, random);
      mixed++;
    }
    expect(mixed).toBeGreaterThan(50);
  });

  it('[S32] emit the same text, each its own, 25 at once', { timeout }, () => {
    const random = randomText();
    for (const mode of ['growing', 'one-block'] as const) {
      const { lines } = interleavedAgents({ agents: 25, messages: 2, blocks: 6, mode });
      expectSame(`25 agents, ${mode}`, messagesOf(lines), random);
    }
  });
});

function expectSame(name: string, lines: StreamJsonMessage[], random: RandomText): void {
  const expected = wordsByAgent(translate(lines));
  for (let round = 0; round < ROUNDS; round++) {
    const events = translate(mix(lines, random));
    expect(wordsByAgent(events), `${name}, FLEETLOOM_SEED=${seed}`).toEqual(expected);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
  }
}

/** Everything that was said, answered and given, by agent. */
function wordsByAgent(events: AgentEvent[]): Record<string, unknown[]> {
  const callOf = new Map<string, string>();
  for (const event of events) {
    if ((event.type === 'thread_start' || event.type === 'thread_update') && event.toolUseId !== undefined) {
      callOf.set(event.thread, event.toolUseId);
    }
  }
  const words: Record<string, unknown[]> = {};
  for (const { seq: _, stream_id: __, depth: ___, thread, ...body } of events) {
    if (!WORDS.has(body.type)) continue;
    (words[callOf.get(thread) ?? thread] ??= []).push(body);
  }
  return words;
}

const WORDS = new Set([
  'text_delta',
  'thinking_delta',
  'tool_use',
  'tool_use_start',
  'tool_input_delta',
  'tool_result',
  'replace',
  'retract',
  'block_aborted',
  'prompt',
]);

function mix(lines: StreamJsonMessage[], random: RandomText): StreamJsonMessage[] {
  const main: StreamJsonMessage[] = [];
  const children = new Map<string, { from: number; lines: StreamJsonMessage[] }>();
  const agentOf = createAgentOf();
  for (const line of lines) {
    const agent = agentOf(line);
    if (agent === undefined) main.push(line);
    else {
      const child = children.get(agent) ?? { from: main.length, lines: [] };
      children.set(agent, child);
      child.lines.push(line);
    }
  }
  const mixed: StreamJsonMessage[] = [];
  let done = 0;
  // Of those that may go on, any.
  for (;;) {
    const ready = [...children.values()].filter((child) => child.from <= done && child.lines.length > 0);
    const choices = ready.length + (done < main.length ? 1 : 0);
    if (choices === 0) return mixed;
    const child = ready[random.below(choices)];
    mixed.push(child ? child.lines.shift()! : main[done++]!);
  }
}

/** The call that spawned the agent of a line; undefined for lines of the main agent and about all of them. */
function createAgentOf(): (line: StreamJsonMessage) => string | undefined {
  const callOf = new Map<unknown, string>();
  return (line) => {
    if (line.type === 'assistant' || line.type === 'user') return line.parent_tool_use_id ?? undefined;
    if (line.subtype !== 'task_started') return undefined;
    const call = callOf.get(line['task_id']);
    if (call === undefined) callOf.set(line['task_id'], String(line['tool_use_id']));
    return call;
  };
}

function messagesOf(lines: string[]): StreamJsonMessage[] {
  return lines.map(parseLine).filter((message) => message !== null);
}
