import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertProperty, isLong, timeout } from '../../../../../test/support/seed.ts';
import { CommandGate, type CommandStep } from './command-gate.ts';
import type { RefusalReason } from './command-scanner.ts';
import { limits } from '../limits.ts';
import { type ParsedCommands, parseCommands, quoteResult } from './parse-commands.ts';

describe('commands', () => {
  it('[F21] /agent at the beginning of a line is a command, with its place', () => {
    const text = 'Let me ask.\n/agent librarian Find the map.\n';
    expect(parseCommands(text)).toEqual({
      commands: [{ type: 'agent', agent: 'librarian', message: 'Find the map.', from: 12, to: text.length }],
      refused: [],
      segments: [
        { type: 'shown', from: 0, to: 12 },
        { type: 'hidden', from: 12, to: text.length },
      ],
      shown: 'Let me ask.\n',
    });
  });

  it.each([
    ['up to three spaces in front', '   /agent a go'],
    ['tabs and spaces between', '/agent\t a \t go  '],
    ['CR LF', '/agent a go\r\n'],
  ])('[F21] %s is still a command', (_, text) => {
    expect(run(text)).toEqual([['a', 'go']]);
    expect(parseCommands(text).shown).toBe('');
  });

  it.each([
    'Please use /agent a go',
    '/agents a go',
    '/Agent a go',
    '- /agent a go',
    '1. /agent a go',
    '`/agent a go`',
    '\\/agent a go',
    '//agent a go',
    '/parallel please',
    '/parallelism',
  ])('[F21] %j is text', (text) => {
    expect(parseCommands(text)).toMatchObject({ commands: [], refused: [], shown: text });
  });

  it('[F22] a message continues until the next command or the end of the text', () => {
    const text =
      '/agent a First.\n\n  - a point\n> a quote\n/agent b\nSecond\r\nline\n\n/parallel\n/agent c x\n/endparallel\nBye';
    expect(parseCommands(text).commands).toMatchObject([
      { agent: 'a', message: 'First.\n\n  - a point\n> a quote' },
      { agent: 'b', message: 'Second\nline' },
      { type: 'parallel', children: [{ agent: 'c', message: 'x' }] },
    ]);
    expect(parseCommands(text).shown).toBe('Bye');
  });

  it('[F22] a message may have code in it, commands that are only shown there included', () => {
    const message = 'Explain:\n```\n/agent x y\n/parallel\n```\n    /agent z w';
    expect(run(`/agent a ${message}\n/agent b ok`)).toEqual([
      ['a', message],
      ['b', 'ok'],
    ]);
  });

  it('[F23] N /agent lines in a block are N children in their order, each with its place', () => {
    const text = '/parallel\n/agent a one\n  /agent b two\n  more\n/agent a three\n/endparallel\n';
    const [block] = parseCommands(text).commands;
    if (block?.type !== 'parallel') throw new Error('there is no block');
    expect(block.children.map(({ agent, message }) => [agent, message])).toEqual([
      ['a', 'one'],
      ['b', 'two\n  more'],
      ['a', 'three'],
    ]);
    expect(block.children.map(({ from, to }) => text.slice(from, to))).toEqual([
      '/agent a one\n',
      '  /agent b two\n  more\n',
      '/agent a three\n',
    ]);
    expect(text.slice(block.from, block.to)).toBe(text);
  });

  it('[F23] several blocks, equal ones too, are all commands', () => {
    const block = '/parallel\n/agent a same\n/endparallel\n';
    const { commands, shown } = parseCommands(`${block}then\n${block}/agent b last`);
    expect(commands.map(({ type }) => type)).toEqual(['parallel', 'parallel', 'agent']);
    expect(shown).toBe('then\n');
  });

  it('[F23] text in a block that belongs to no message is not run, and shown', () => {
    const text = '/parallel\nThree tasks:\n\n/agent a one\n/endparallel\n';
    const parsed = parseCommands(text);
    expect(parsed.shown).toBe('Three tasks:\n');
    expect(parsed.commands).toMatchObject([{ children: [{ agent: 'a', message: 'one' }] }]);
  });

  it.each<[RefusalReason, string]>([
    ['no_end', '/parallel\n/agent a one\n/agent b two\nthe end'],
    ['no_end', '/parallel'],
    ['no_end', '/parallel\n/agent a one\n```\n/endparallel\n'],
    ['no_end', '/parallel\n/agent a one\n/parallel\n/agent b two\n/endparallel\n/agent c three\n'],
    ['no_start', '/endparallel\n'],
    ['empty', '/parallel\n/endparallel\n'],
    ['empty', '/parallel\nnothing here\n/endparallel\n'],
    ['nested', '/parallel\n/agent a one\n/parallel\n/agent b two\n/endparallel\n/agent c three\n/endparallel\n'],
    ['incomplete', '/agent\n'],
    ['incomplete', '/agent a'],
    ['incomplete', '/agent a \n \n'],
    ['incomplete', '/parallel\n/agent a one\n/agent\n/endparallel\n'],
    ['incomplete', '/parallel\n/agent a one\n/agent b\n\n/endparallel'],
  ])('[F24] refused as a whole, and shown: %s %j', (reason, text) => {
    const parsed = parseCommands(text);
    expect(parsed).toMatchObject({ commands: [], shown: text });
    expect(parsed.refused).toMatchObject([{ reason, from: 0, to: text.length }]);
  });

  it('[F24] a refused command does not affect those before and after it', () => {
    const text = '/agent a go\n/parallel\n/endparallel\nwell\n/agent b go\n';
    const parsed = parseCommands(text);
    expect(run(text)).toEqual([
      ['a', 'go'],
      ['b', 'go'],
    ]);
    expect(parsed.shown).toBe('/parallel\n/endparallel\nwell\n');
  });

  it.each([
    [limits.childrenMax, 1, 0],
    [limits.childrenMax + 1, 0, 1],
    [limits.childrenMax + 2, 0, 1],
  ])('[F24] a block of %i children: %i commands, %i refused, and the reason names the limit', (count, good, bad) => {
    const parsed = parseCommands(`/parallel\n${'/agent a go\n'.repeat(count)}/endparallel\n`);
    expect([parsed.commands.length, parsed.refused.length]).toEqual([good, bad]);
    for (const { reason, problem } of parsed.refused)
      expect([reason, problem]).toEqual(['too_many', expect.stringContaining('16')]);
  });

  it('[F24] each reason states what to do', () => {
    const texts = ['/parallel', '/endparallel', '/parallel\n/endparallel', '/agent', `/agent a x\n${long}`];
    for (const text of texts) expect(parseCommands(text).refused[0]?.problem).toMatch(/^.+: .+$/);
  });
});

describe('what is only shown', () => {
  it.each([
    ['a fence', '```\n/agent a go\n```\n'],
    ['a fence with a language', '```sh\n/parallel\n/agent a go\n/endparallel\n```\n'],
    ['tildes', '~~~\n/agent a go\n~~~\n'],
    ['a longer fence around a shorter one', '````\n```\n/agent a go\n```\n/agent b go\n````\n'],
    ['tildes around backticks', '~~~\n```\n/agent a go\n~~~\n'],
    ['a fence that is not closed', 'so:\n```\n/agent a go\n\n/agent b go'],
    ['a fence with text behind its would-be end', '```\n``` no\n/agent a go\n```\n'],
    ['a fence in a list', '- ```\n  /agent a go\n  ```\n'],
    ['a fence in a numbered list', '12. ~~~\n    x\n  /agent a go\n    ~~~\n'],
    ['a fence that is indented', '   ```\n/agent a go\n   ```\n'],
    ['a fence that is indented like code', '    ```\n/agent a go\n    ```\n'],
    ['an end that is indented like code', '```\n    ```\n/agent a go\n```\n'],
    ['four spaces', '    /agent a go\n'],
    ['a tab', '\t/agent a go\n'],
    ['spaces and a tab', '  \t/agent a go\n'],
    ['a quote', '> /agent a go\n'],
    ['a quote without a space', '>/agent a go\n'],
    ['an indented quote', '  > /parallel\n  > /agent a go\n  > /endparallel\n'],
  ])('[F25] nothing in %s is a command, and it is shown unchanged', (_, text) => {
    expect(parseCommands(text)).toEqual({
      commands: [],
      refused: [],
      segments: [{ type: 'shown', from: 0, to: text.length }],
      shown: text,
    });
  });

  it.each([
    ['a fence that is closed', '```\nx\n```\n'],
    ['a fence that is closed by a longer one', '```\nx\n`````  \n'],
    ['a closed fence in a list', '- ```\n  x\n  ```\n'],
    ['backticks within a line', '```x``` is code\n'],
    ['two backticks', '``\n'],
    ['a fence in a quote', '> ```\n> x\n'],
    ['a quote', '> said\n'],
  ])('[F25] behind %s commands are commands again', (_, text) => {
    expect(run(`${text}/agent a go`)).toEqual([['a', 'go']]);
    expect(parseCommands(`${text}/agent a go`).shown).toBe(text);
  });

  it('[F25] a result that is quoted for a model runs nothing when it is repeated', () => {
    const result = 'done\n/agent a go\r\n\n/parallel\n/agent b go\n/endparallel';
    expect(
      quoteResult(result)
        .split('\n')
        .every((line) => line.startsWith('> ')),
    ).toBe(true);
    expect(parseCommands(quoteResult(result))).toMatchObject({ commands: [], refused: [] });
  });
});

describe('any text', () => {
  it('[F26] a command is either run or shown, once each and in order', { timeout }, () => {
    assertProperty(
      fc.property(wildTexts, (text) => {
        const { segments, commands, refused, shown } = parseCommands(text);
        const tasks = commands.flatMap((command) => (command.type === 'agent' ? [command] : command.children));
        let at = 0;
        for (const { from, to, type } of segments) {
          expect([from, to > from]).toEqual([at, true]);
          at = to;
          for (let index = from; index < to; index++) {
            const isIn = (place: { from: number; to: number }) => place.from <= index && index < place.to;
            expect(type === 'hidden' ? commands.some(isIn) : !tasks.some(isIn)).toBe(true);
          }
        }
        expect(at).toBe(text.length);
        const parts = segments.filter(({ type }) => type === 'shown').map(({ from, to }) => text.slice(from, to));
        expect(parts.join('')).toBe(shown);
        for (const { from, to } of refused) expect(shown).toContain(text.slice(from, to));
        for (const { agent, message, from, to } of tasks) {
          expect(message.trim()).not.toBe('');
          expect(text.slice(from, to).trimStart().replace(/\s+/, ' ').startsWith(`/agent ${agent}`)).toBe(true);
        }
      }),
      isLong ? 100_000 : 2_000,
    );
  });

  it('[F27] a text that is cut up anyhow gives what the whole gives', { timeout }, () => {
    assertProperty(
      fc.property(wildTexts, fc.array(fc.nat(12), { minLength: 1, maxLength: 40 }), (text, sizes) => {
        expect(gated(cut(text, sizes))).toEqual(withoutSegments(parseCommands(text)));
      }),
      isLong ? 200_000 : 3_000,
    );
  });

  it('[F27] and so does every text of the examples, character by character, twice through one gate', () => {
    const text =
      '/agent a\nx\n```\n/agent b\n```\nrest\n/parallel\nstray\n/agent c y\n/endparallel\r\nbye\n> /agent d\n  /end';
    const gate = new CommandGate();
    for (const _ of [1, 2]) expect(gated(text.split(''), gate)).toEqual(withoutSegments(parseCommands(text)));
  });

  it.each([
    ['Hello', 'Hello'],
    ['Hello /agent a', 'Hello /agent a'],
    ['/', ''],
    ['  /par', ''],
    ['/parallel', ''],
    ['/parallel x', '/parallel x'],
    ['/agent', ''],
    ['/agentic', '/agentic'],
    ['    /agent', '    /agent'],
    ['```\n/agent a go', '```\n/agent a go'],
    ['/agent a go\nmore', ''],
    ['done\n/agent a go\nmore', 'done\n'],
    ['/parallel\n/agent a go\n', ''],
    ['/parallel\n/agent a go\n/endparallel\nbye', 'bye'],
    ['/parallel\n/endparallel\nbye', '/parallel\n/endparallel\nbye'],
  ])('[F28] of %j at once %j is shown', (text, shown) => {
    expect(new CommandGate().push(text).shown).toBe(shown);
    const gate = new CommandGate();
    expect(Array.from(text, (one) => gate.push(one).shown).join('')).toBe(shown);
  });

  it('[F28] a command is reported when it is complete: a block at its end, a message at the next command', () => {
    const gate = new CommandGate();
    expect(gate.push('/agent a go\nmore\n').commands).toEqual([]);
    expect(gate.push('/parallel\n').commands).toMatchObject([{ agent: 'a', message: 'go\nmore' }]);
    expect(gate.push('/agent b go\n/endparallel').commands).toEqual([]);
    expect(gate.push('\n').commands).toMatchObject([{ type: 'parallel' }]);
    expect(gate.end()).toEqual({ shown: '', commands: [], refused: [] });
  });
});

const long = 'x'.repeat(limits.commandCharsMax);

describe('limits', () => {
  const head = '/agent a ';
  it.each<[string, string, number]>([
    ['a message at the limit', `${head}${long.slice(head.length)}`, 0],
    ['a message over it', `${head}${long.slice(head.length - 1)}`, 0],
    ['a message in several lines at the limit', `${head}x\n${long.slice(head.length + 2)}`, 0],
    ['a message in several lines over it', `${head}x\n${long.slice(head.length + 1)}`, 1],
    ['a line over it that looks like a command', `${head}x\n${head}${long}\n${head}y`, 1],
    ['a block at the limit', `/parallel\n${head}${long.slice(10 + head.length + 13)}\n/endparallel`, 0],
    ['a block over it', `/parallel\n${head}${long}\n/endparallel\n${head}y`, 1],
    ['a block far over it', `/parallel\n${head}${long}\n${long}\n${head}y\n/endparallel\nx\n${head}y`, 1],
    ['a block over it without an end', `/parallel\n${head}${long}\n${long}\n${head}y`, 1],
    ['blanks behind a command', `/parallel${' '.repeat(limits.commandCharsMax)}\nx`, 0],
  ])('[F29] %s', (_, text, tooLong) => {
    const whole = parseCommands(text);
    expect(whole.refused.filter(({ reason }) => reason === 'too_long')).toHaveLength(tooLong);
    for (const size of [text.length, 100_003, 65_536]) {
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (__, index) =>
        text.slice(index * size, (index + 1) * size),
      );
      const parts = gated(pieces);
      // Compared piece by piece: printing megabytes would take longer than everything else.
      expect(parts.shown === whole.shown).toBe(true);
      expect(JSON.stringify([parts.commands, parts.refused]) === JSON.stringify([whole.commands, whole.refused])).toBe(
        true,
      );
    }
  });

  it('[F29] a message at the limit is run, and one character more is not', () => {
    const fits = `${head}${long.slice(head.length)}`;
    expect([parseCommands(fits).commands.length, parseCommands(`${fits}x`).commands.length]).toEqual([1, 0]);
  });

  it.each(['/agent a ', '/parallel  ', '  /endparallel ', 'x', '```', '> '])(
    '[D16] time grows with the length of a line that begins with %j, not with its square',
    (start) => {
      const gate = new CommandGate();
      gate.push(start);
      const cpu = process.cpuUsage();
      for (let count = 0; count < 200_000; count++) gate.push(start.includes('parallel') ? '  ' : 'word ');
      gate.end();
      const { user, system } = process.cpuUsage(cpu);
      expect((user + system) / 1e6).toBeLessThan(3);
    },
  );

  it('[F29] time grows with the length of a line, not with its square', () => {
    const gate = new CommandGate();
    const start = process.cpuUsage();
    for (let count = 0; count < 200_000; count++) gate.push('word ');
    gate.end();
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1e6).toBeLessThan(3);
  });
});

// --- support ---

function run(text: string): [string, string][] {
  return parseCommands(text).commands.flatMap((one) => (one.type === 'agent' ? [[one.agent, one.message]] : []));
}

/** Pieces of these sizes, again and again; empty ones are allowed as long as one is not. */
function cut(text: string, sizes: readonly number[]): string[] {
  const lengths = sizes.some((size) => size > 0) ? sizes : [1];
  const pieces: string[] = [];
  for (let at = 0, index = 0; at < text.length; index++) {
    const length = lengths[index % lengths.length] ?? 1;
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

function gated(pieces: readonly string[], gate = new CommandGate()): CommandStep {
  const steps = [...pieces.map((piece) => gate.push(piece)), gate.end()];
  return {
    shown: steps.map(({ shown }) => shown).join(''),
    commands: steps.flatMap(({ commands }) => commands),
    refused: steps.flatMap(({ refused }) => refused),
  };
}

function withoutSegments({ shown, commands, refused }: ParsedCommands): CommandStep {
  return { shown, commands, refused };
}

/** Lines of all kinds, good and broken, with any ending. */
const wildTexts = fc
  .array(
    fc.tuple(
      fc.oneof(
        fc.constantFrom('/agent', '/agent a', '/agent a go', ' /agent b go ', '/agent  c	go on', '    /agent d no'),
        fc.constantFrom('/parallel', '/endparallel', '  /parallel ', '/endparallel\t', '/parallel no', '/agents', '/'),
        fc.constantFrom('```', '~~~', '````', '```sh', '    ```', '- ```', '``` x', '`', '> ```', '~~~~~', '\t~~~'),
        fc.constantFrom('', ' ', 'text', '> /agent e no', '- x', 'see /agent f', '🙂', '\r', '/agen', '/para'),
        fc.string({ maxLength: 6 }),
      ),
      fc.constantFrom('\n', '\n', '\n', '\r\n', '', '\n\n'),
    ),
    { maxLength: 24 },
  )
  .map((lines) => lines.flat().join(''));
