import { describe, expect, it } from 'vitest';
import {
  type GeneratedStream,
  growingSnapshots,
  growingText,
  interleavedAgents,
  largeResults,
  oneBlockPerLine,
  partialMessages,
  toBytes,
} from './streams.ts';

/** Each shape in a small size, with every option used. */
const SMALL: Record<string, (seed?: { seed: number }) => GeneratedStream> = {
  a: (seed) => oneBlockPerLine({ messages: 20, ...seed }),
  'a, unique ids': (seed) => oneBlockPerLine({ messages: 20, ids: 'unique', ...seed }),
  'a, no ids': (seed) => oneBlockPerLine({ messages: 20, ids: 'none', ...seed }),
  b: (seed) => growingSnapshots({ messages: 2, blocks: 15, ...seed }),
  'b, growing in place': (seed) => growingSnapshots({ messages: 2, blocks: 15, growSteps: 4, unicode: 0.3, ...seed }),
  b3: (seed) => growingText({ total: 3_000, unicode: 0.3, ...seed }),
  c: (seed) => interleavedAgents({ agents: 6, messages: 2, ...seed }),
  c1: (seed) => interleavedAgents({ agents: 6, messages: 2, mode: 'one-block', ...seed }),
  'c, indistinguishable': (seed) =>
    interleavedAgents({ agents: 6, messages: 2, withId: false, withParent: false, sameOpening: true, ...seed }),
  d: (seed) => largeResults({ count: 3, size: 10_000, ...seed }),
  e: (seed) => partialMessages({ messages: 4, unicode: 0.3, ...seed }),
};

describe.each(Object.entries(SMALL))('shape %s', (_name, generate) => {
  it('[B1] is the same for the same seed and different for another', () => {
    expect(generate()).toEqual(generate());
    expect(generate({ seed: 77 }).lines).not.toEqual(generate().lines);
  });

  it('[B2] consists of JSON objects, from init to result, one per line and well-formed', () => {
    const { lines } = generate();
    const messages = lines.map(read);
    expect(messages[0]).toMatchObject({ type: 'system', subtype: 'init' });
    expect(messages.at(-1)).toMatchObject({ type: 'result', subtype: 'success' });
    for (const line of lines) {
      expect(line).not.toContain('\n');
      // A lone surrogate could not be written as UTF-8, so bytes and oracle would differ.
      expect(line).not.toMatch(/\\ud[89a-f]/i);
    }
    const bytes = toBytes(generate());
    expect(new TextDecoder('utf-8', { fatal: true }).decode(bytes).split('\n')).toEqual([...lines, '']);
  });

  it('[B3] holds every block of the oracle, and nothing else', () => {
    const stream = generate();
    const keys = stream.blocks.map(({ messageId, index }) => `${messageId}/${index}`);
    expect(new Set(keys).size).toBe(keys.length);
    const finals = finalTexts(stream);
    expect([...finals].sort()).toEqual([...new Set(stream.blocks.map(({ text }) => text))].sort());
    expect(resultIds(stream)).toEqual(stream.toolResults);
  });
});

describe('generated streams', () => {
  it('[B4] have as many lines, blocks and results as their options request', () => {
    expect(counts(oneBlockPerLine({ messages: 10, blocks: 6 }))).toEqual({
      lines: 10 * 8 + 2,
      blocks: 60,
      results: 20,
    });
    expect(counts(growingSnapshots({ messages: 2, blocks: 9 }))).toEqual({ lines: 18 + 2, blocks: 18, results: 0 });
    // Three of nine blocks are calls, which come whole.
    expect(counts(growingSnapshots({ messages: 2, blocks: 9, growSteps: 3 }))).toEqual({
      lines: 2 * (6 * 3 + 3) + 2,
      blocks: 18,
      results: 0,
    });
    expect(counts(growingText({ total: 100, step: 30 }))).toEqual({ lines: 4 + 2, blocks: 1, results: 0 });
    const agents = { agents: 5, messages: 2, blocks: 6 };
    expect(counts(interleavedAgents({ ...agents, mode: 'one-block' }))).toEqual({
      lines: 5 + 60 + 20 + 5 + 2,
      blocks: 65,
      results: 25,
    });
    expect(counts(interleavedAgents(agents))).toEqual({ lines: 1 + 60 + 20 + 5 + 2, blocks: 65, results: 25 });
    expect(counts(largeResults({ count: 4, size: 100 }))).toEqual({ lines: 8 + 2, blocks: 4, results: 4 });
    expect(counts(partialMessages({ messages: 3 }))).toMatchObject({ blocks: 9, results: 0 });
  });

  it('[B5] grow: each line of a message begins with all of the line before', () => {
    for (const stream of [SMALL['b']!(), SMALL['b, growing in place']!(), SMALL['b3']!()]) {
      const soFar = new Map<string, string[]>();
      for (const { id, content } of assistants(stream)) {
        const texts = content.map(textOf);
        const before = soFar.get(id) ?? [];
        expect(texts.length).toBeGreaterThanOrEqual(before.length);
        for (const [index, text] of before.entries()) expect(texts[index]!.startsWith(text)).toBe(true);
        soFar.set(id, texts);
      }
    }
  });

  it('[B6] interleave: agents alternate, and with the same opening nothing else distinguishes them', () => {
    const parents = SMALL['c1']!()
      .lines.map(read)
      .map((message) => message['parent_tool_use_id']);
    const changes = parents.filter((parent, index) => index > 0 && parent !== parents[index - 1]);
    expect(changes.length).toBeGreaterThan(parents.length / 2);
    const alike = SMALL['c, indistinguishable']!();
    const openings = alike.blocks.filter(({ agent, index }) => agent !== null && index === 0);
    expect(new Set(openings.map(({ text }) => text.slice(0, 79))).size).toBe(1);
    expect(assistants(alike).every(({ id }) => id === undefined)).toBe(true);
  });

  it('[B7] partial: the deltas of a block joined are its final text', () => {
    const stream = SMALL['e']!();
    const joined: string[] = [];
    for (const message of stream.lines.map(read)) {
      const event = message['event'] as Record<string, unknown> | undefined;
      if (event?.['type'] === 'content_block_start') joined.push('');
      if (event?.['type'] !== 'content_block_delta') continue;
      const { text, thinking, partial_json } = event['delta'] as Record<string, string>;
      joined[joined.length - 1] += (text ?? thinking ?? partial_json)!;
    }
    const finals = assistants(stream).map(({ content }) => content[0]!);
    expect(joined).toEqual(
      finals.map((block) => (block['type'] === 'tool_use' ? JSON.stringify(block['input']) : textOf(block))),
    );
  });

  it('[B8] have the sizes that the goals are defined for', () => {
    const bytes = toBytes(growingSnapshots()).length;
    expect(bytes).toBeGreaterThan(18e6);
    expect(bytes).toBeLessThan(30e6);
  });
});

type Read = Record<string, unknown>;

function read(line: string): Read {
  return JSON.parse(line) as Read;
}

function counts({ lines, blocks, toolResults }: GeneratedStream) {
  return { lines: lines.length, blocks: blocks.length, results: toolResults.length };
}

function assistants({ lines }: GeneratedStream): { id: string; content: Read[] }[] {
  const messages = lines.map(read).filter(({ type }) => type === 'assistant');
  return messages.map(({ message }) => message as { id: string; content: Read[] });
}

function textOf(block: Read): string {
  return (block['text'] ?? block['thinking'] ?? block['id']) as string;
}

/** The texts that no later line extends: what is left when everything has arrived. */
function finalTexts(stream: GeneratedStream): Set<string> {
  const texts = new Set<string>();
  for (const { content } of assistants(stream)) {
    for (const text of content.map(textOf)) texts.add(text);
  }
  const all = [...texts];
  return new Set(all.filter((text) => !all.some((other) => other.length > text.length && other.startsWith(text))));
}

function resultIds({ lines }: GeneratedStream): string[] {
  const users = lines.map(read).filter(({ type }) => type === 'user');
  return users.map(({ message }) => (message as { content: { tool_use_id: string }[] }).content[0]!.tool_use_id);
}
