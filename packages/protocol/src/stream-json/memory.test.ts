import { describe, expect, it } from 'vitest';
import { liveBytes } from '../../../../test/support/heap.ts';
import { assistant, call, text, thinking } from '../../../../test/support/lines.ts';
import { isLong, timeout } from '../../../../test/support/seed.ts';
import { MEMORY_BLOCKS_PER_THREAD, MEMORY_LINES_PER_THREAD } from './base/limits.ts';
import type { StreamJsonMessage, WireBlock } from './wire/messages.ts';
import { Translator } from './translator/translator.ts';

const MIB = 2 ** 20;
const LINES = isLong ? 10_000_000 : 300_000;

/** A hundred lines per message, as the rule has it: 10 million lines, 100,000 messages. */
const LINES_PER_MESSAGE = 100;

describe('memory of a translator', () => {
  it('[S57] stays below 32 MB over all lines of 25 agents', { timeout }, () => {
    const agents = ['', ...Array.from({ length: 24 }, (_, index) => `toolu_agent_${index}`)];
    expectBounded(LINES, (index) => {
      const agent = agents[index % agents.length] as string;
      const message = Math.floor(index / agents.length / LINES_PER_MESSAGE);
      const block =
        index % 3 === 0 ? call(`toolu_${index}`, 'Bash', { command: `ls ${index}` }) : text(`Line ${index}.`);
      return assistant(`msg_${agent}_${message}`, [block], { uuid: uuid(index), parent_tool_use_id: agent || null });
    });
  });

  it('[S57] stays below 32 MB where every line repeats its message', { timeout }, () => {
    const content: WireBlock[] = [];
    expectBounded(LINES / 6, (index) => {
      if (index % LINES_PER_MESSAGE === 0) content.length = 0;
      content.push(text(`Line ${index} of a long day in the weaving mill, and there is no end in sight.`));
      return assistant(`msg_${Math.floor(index / LINES_PER_MESSAGE)}`, [...content]);
    });
  });

  it('[S57] stays below 32 MB where there are no ids at all, and where one message never ends', { timeout }, () => {
    expectBounded(LINES / 10, (index) => assistant('', [text(`Line ${index}.`)], { uuid: uuid(index) }));
    expectBounded(LINES / 3, (index) => assistant('m1', [text(`Line ${index}.`)], { uuid: uuid(index) }));
  });

  it('[S57] stays below 32 MB where agents come and go', { timeout }, () => {
    expectBounded(LINES / 6, (index) => {
      const agent = `toolu_${Math.floor(index / 5)}`;
      if (index % 5 < 3)
        return assistant(`m${agent}`, [text(`${index}`)], { uuid: uuid(index), parent_tool_use_id: agent });
      if (index % 5 === 3) return assistant('m', [call(agent, 'Agent')], { uuid: uuid(index) });
      return {
        type: 'user',
        message: { content: [{ type: 'tool_result', tool_use_id: agent, content: 'done' }] },
        uuid: uuid(index),
      };
    });
  });
});

describe('what is remembered', () => {
  const others = (translator: Translator, count: number, fields = {}) => {
    for (let index = 0; index < count; index++) {
      translator.translate(
        assistant(`other_${index}`, [text(`${index}`)], { ...fields, ...('uuid' in fields && { uuid: `o${index}` }) }),
      );
    }
  };

  it('[S57] a line is known by its uuid for 10,000 further lines of its agent at least', () => {
    const line = assistant('m1', [text('a')], { uuid: 'u1' });
    const translator = new Translator();
    expect(translator.translate(line).length).toBe(1);
    others(translator, MEMORY_LINES_PER_THREAD - 1, { uuid: '' });
    expect(translator.translate(line)).toEqual([]);
    // Its agent's own lines count, not those of others.
    others(translator, 3 * MEMORY_LINES_PER_THREAD, { uuid: '', parent_tool_use_id: 'toolu_A' });
    expect(translator.translate(line)).toEqual([]);
  });

  it('[S57] a line is forgotten after twice as many', () => {
    const line = assistant('m1', [text('a')], { uuid: 'u1' });
    const translator = new Translator();
    translator.translate(line);
    others(translator, 2 * MEMORY_LINES_PER_THREAD, { uuid: '' });
    expect(translator.translate(line).length).toBe(1);
  });

  it('[S57] a snapshot is known for 10,000 further lines of its agent, with its text only as a mark', () => {
    const blocks = [thinking('plan'), text('a'.repeat(1_000)), call('toolu_1', 'Bash', { command: 'ls' })];
    const translator = new Translator();
    expect(translator.translate(assistant('m1', blocks)).length).toBe(3);
    others(translator, MEMORY_LINES_PER_THREAD - 1);
    expect(translator.translate(assistant('m1', [...blocks, text('new')]))).toMatchObject([
      { block: 3, content: 'new' },
    ]);
    others(translator, MEMORY_LINES_PER_THREAD - 1);
    expect(translator.translate(assistant('m1', [blocks[0]!, text(`${'a'.repeat(1_000)}bc`)]))).toMatchObject([
      { type: 'text_delta', block: 1, content: 'bc' },
    ]);
    others(translator, MEMORY_LINES_PER_THREAD + 100);
    expect(translator.translate(assistant('m1', blocks)).length).toBe(3);
  });

  it('[S57] of snapshots at most 65,536 blocks are known per agent', () => {
    const many = Array.from({ length: 1_024 }, (_, index) => text(`${index}`));
    const known = (messages: number) => {
      const translator = new Translator();
      const first = [text('a'), text('b')];
      translator.translate(assistant('m0', first));
      for (let index = 1; index <= messages; index++) translator.translate(assistant(`m${index}`, many));
      others(translator, 100);
      return translator.translate(assistant('m0', first)).length === 0;
    };
    expect(MEMORY_BLOCKS_PER_THREAD).toBe(64 * 1_024);
    expect(known(60)).toBe(true);
    expect(known(66)).toBe(false);
  });
});

function expectBounded(lines: number, line: (index: number) => StreamJsonMessage): void {
  const translator = new Translator();
  const before = liveBytes();
  let most = 0;
  for (let index = 0; index < lines; index++) {
    translator.translate(line(index));
    if (index % Math.ceil(lines / 4) === 0) most = Math.max(most, liveBytes() - before);
  }
  most = Math.max(most, liveBytes() - before);
  // Used after it is weighed, or it would be gone by then.
  expect(translator.snapshot().seq).toBeGreaterThan(0);
  expect(most / MIB).toBeLessThan(32);
}

function uuid(index: number): string {
  return `${index.toString(16).padStart(8, '0')}-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;
}
