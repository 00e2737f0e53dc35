import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertProperty, isLong, timeout } from '../../../../../test/support/seed.ts';
import { createGate, type Gate, type GateMode, type GateOutput, type IterationEnd, type SavedGate } from './gate.ts';
import { limits } from '../limits.ts';
import { parseCommands, toShownText } from './parse-commands.ts';
import type { Delegation } from './status-line.ts';

describe('strict', () => {
  it('[F30] text comes when the iteration has ended and did not delegate', () => {
    const gate = createGate({ mode: 'strict' });
    expect([gate.text('Hel'), gate.text('lo.')]).toEqual([[], []]);
    expect(gate.end('ok')).toEqual([text('Hello.')]);
  });

  it('[F30] of an iteration that delegates one line comes, and nothing else of it', () => {
    const gate = createGate({ mode: 'strict' });
    expect([gate.text('I will ask.'), gate.delegate({ agent: 'a' }), gate.text('And wait.')]).toEqual([[], [], []]);
    expect(gate.end('ok')).toEqual([text('→ delegating: a\n')]);
    gate.text('Synthesis.');
    expect(gate.end('ok')).toEqual([text('Synthesis.')]);
  });

  it('[F30] commands in the text delegate like calls of tools', () => {
    const gate = createGate({ mode: 'strict' });
    gate.text('Plan.\n/agent a go\n/parallel\n/agent b x\n/age');
    gate.text('nt c y\n/endparallel\nLater more.');
    expect(gate.end('ok')).toEqual([text('→ delegating: a, 2 in parallel\n')]);
  });

  it('[F30] a command that is refused or only shown does not delegate, and is shown', () => {
    const said = '```\n/agent a go\n```\n/parallel\n/agent b x\n';
    const gate = createGate({ mode: 'strict' });
    gate.text(said);
    expect(gate.end('ok')).toEqual([text(said)]);
  });

  it('[F30] the line begins a line, also behind text that did not end its own', () => {
    const gate = createGate({ mode: 'strict' });
    gate.text('Let me look');
    expect(gate.end('ok')).toEqual([text('Let me look')]);
    gate.delegate({ agent: 'a' });
    expect(gate.end('ok')).toEqual([text('\n→ delegating: a\n')]);
    gate.delegate({ agent: 'b' });
    expect(gate.end('ok')).toEqual([text('→ delegating: b\n')]);
  });
});

describe('commands that were not run', () => {
  const said = 'Plan.\n/agent a go\nLater.\n/agent b x\n/parallel\nstray\n/agent c y\n/endparallel\nEnd.';
  const { commands } = parseCommands(said);

  it.each<GateMode>(['strict', 'live', 'off'])('[V121] are shown where all of them were not, with gate %s', (mode) => {
    const gate = createGate({ mode });
    let shown = '';
    const take = (outputs: readonly GateOutput[]) => {
      for (const one of outputs) shown = one.type === 'text' ? shown + one.delta : shown.slice(0, one.from);
    };
    for (const piece of said.match(/.{1,5}/gs)!) take(gate.text(piece));
    take(gate.end('ok', commands));
    expect(shown).toBe(said);
  });

  it('[V121] are not part of the status line that names the delegates', () => {
    const gate = createGate({ mode: 'strict' });
    gate.text(said);
    expect(gate.end('ok', commands.slice(0, 2))).toEqual([text('→ delegating: 1 in parallel\n')]);
    gate.text(said);
    gate.delegate({ agent: 'd' });
    expect(gate.end('ok', commands)).toEqual([text('→ delegating: d\n')]);
    gate.text(said);
    expect(gate.end('ok', [])).toEqual([text('→ delegating: a, b, 1 in parallel\n')]);
  });

  it('[V121] equal the text that is added to the shown text, for any input', { timeout }, () => {
    assertProperty(
      fc.property(fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }), (isRun) => {
        const notRun = commands.filter((_, index) => !isRun[index]);
        const ran = commands.filter((_, index) => isRun[index]);
        const shown = toShownText(said, notRun);
        for (const { from, to } of notRun) expect(shown).toContain(said.slice(from, to));
        for (const { from } of ran) expect(shown).not.toContain(said.slice(from, from + 8));
        expect(shown).toContain('stray\n');
      }),
    );
  });
});

describe('live', () => {
  it('[F31] text comes at once, and is taken back when the iteration turns out to delegate', () => {
    const gate = createGate({ mode: 'live' });
    expect(gate.text('First.\n')).toEqual([text('First.\n')]);
    expect(gate.end('ok')).toEqual([]);
    expect(gate.text('I will ')).toEqual([text('I will ')]);
    expect(gate.text('ask.')).toEqual([text('ask.')]);
    expect(gate.delegate({ agent: 'a' })).toEqual([{ type: 'text_retract', from: 7 }]);
    expect([gate.text('Not this.'), gate.delegate({ agent: 'b' })]).toEqual([[], []]);
    expect(gate.end('ok')).toEqual([text('→ delegating: a, b\n')]);
    expect(gate.text('Synthesis')).toEqual([text('Synthesis')]);
    expect(gate.end('ok')).toEqual([]);
  });

  it('[F31] a command is never shown, and retracts the text before it when it is complete', () => {
    const gate = createGate({ mode: 'live' });
    expect(gate.text('Plan.\n/par')).toEqual([text('Plan.\n')]);
    expect(gate.text('allel\n/agent a go\n/endparallel')).toEqual([]);
    expect(gate.text('\nmore')).toEqual([{ type: 'text_retract', from: 0 }]);
    expect(gate.end('ok')).toEqual([text('→ delegating: 1 in parallel\n')]);
  });

  it('[F31] a command that is recognised only at the end retracts the text before it then', () => {
    const gate = createGate({ mode: 'live' });
    expect([gate.text('Plan.\n'), gate.text('/agent a go')]).toEqual([[text('Plan.\n')], []]);
    expect(gate.end('ok')).toEqual([{ type: 'text_retract', from: 0 }, text('→ delegating: a\n')]);
  });
});

describe('off', () => {
  it('[F32] prose comes at once and stays, commands are hidden, and no line is added', () => {
    const gate = createGate({ mode: 'off' });
    expect(gate.text('Plan.\n')).toEqual([text('Plan.\n')]);
    expect(gate.delegate({ agent: 'a' })).toEqual([]);
    expect(gate.text('Go on.\n/parallel\n/agent b x\n/endparallel\nBye.')).toEqual([text('Go on.\n')]);
    expect(gate.end('ok')).toEqual([text('Bye.')]);
  });
});

describe('every mode', () => {
  it.each<GateMode>(['strict', 'live', 'off'])(
    '[F33] %s: what a failed request has said is delivered, commands that were not run included',
    (mode) => {
      const said = 'Plan.\n/parallel\n/agent a go\n/endparallel\nThen /agent';
      const gate = createGate({ mode });
      expect(replay([...Array.from(said, (one) => gate.text(one)), gate.end('failed')])).toBe(said);
      const called = createGate({ mode });
      expect(replay([called.text('I ask.'), called.delegate({ agent: 'a' }), called.end('failed')])).toBe('I ask.');
    },
  );

  it.each<GateMode>(['strict', 'live', 'off'])('[F33] %s: nothing stays of a request that is made again', (mode) => {
    const gate = createGate({ mode });
    const steps = [
      gate.text('One.\n'),
      gate.end('ok'),
      gate.text('Tw'),
      gate.end('void'),
      gate.text('Two.'),
      gate.end('ok'),
    ];
    expect(replay(steps)).toBe('One.\nTwo.');
  });

  it.each<GateMode>(['strict', 'live', 'off'])('[F70] %s: only the kept text of a truncated request stays', (mode) => {
    for (const canDelegate of [true, false]) {
      const gate = createGate({ mode, commands: false, canDelegate });
      const steps = [gate.text('One.\n'), gate.end('ok'), gate.text('Whole.'), gate.text('Hal'), gate.cut(6, '')];
      expect(replay([...steps, gate.text(' Next.'), gate.end('ok')])).toBe('One.\nWhole. Next.');
      const late = [gate.text('Half'), gate.text('Late.'), gate.cut(0, 'Late.'), gate.text('!'), gate.cut(1, '')];
      expect(replay([...steps, gate.text(' Next.'), ...late])).toContain('Late.!');
    }
  });

  it('[F70] a truncated request retracts only what it has to, and its delegations stay', () => {
    const gate = createGate({ mode: 'live', commands: false });
    expect([gate.text('Whole.'), gate.text('Half'), gate.cut(6, '')]).toEqual([
      [text('Whole.')],
      [text('Half')],
      [{ type: 'text_retract', from: 6 }],
    ]);
    gate.text('I ask.');
    gate.delegate({ agent: 'a' });
    gate.text('Half');
    expect(gate.cut(6, '')).toEqual([text('\n→ delegating: a\n')]);
    expect(gate.cut(0, '')).toEqual([]);
  });

  it.each<GateMode>(['strict', 'live', 'off'])(
    '[F33] %s: the text of an agent that cannot delegate is not gated',
    (mode) => {
      const gate = createGate({ mode, canDelegate: false });
      expect(gate.text('/agent a go\nHi')).toEqual([text('/agent a go\nHi')]);
      expect(gate.end('ok')).toEqual([]);
    },
  );

  it.each<GateMode>(['live', 'off'])('[F33] %s: where commands are not run they are text', (mode) => {
    const gate = createGate({ mode, commands: false });
    expect(gate.text('/agent a go')).toEqual([text('/agent a go')]);
    expect(gate.end('ok')).toEqual([]);
  });

  it('[F34] whatever happens, each mode ends with the text that it should', { timeout }, () => {
    const piece = fc.constantFrom(
      'Hi. ',
      '\n',
      '/agent a go\n',
      '/parallel\n/agent b x\n',
      '/endparallel\n',
      '```\n',
      '/a',
      'gent c d',
    );
    const iteration = fc.record({
      pieces: fc.array(fc.oneof(piece, fc.string({ maxLength: 4 })), { maxLength: 8 }),
      calls: fc.array(fc.nat(8), { maxLength: 2 }),
      end: fc.constantFrom<IterationEnd | 'cut'>('ok', 'ok', 'ok', 'failed', 'void', 'cut'),
      cut: fc.record({ from: fc.nat(20), rest: piece }),
    });
    assertProperty(
      fc.property(fc.array(iteration, { maxLength: 5 }), (iterations) => {
        for (const mode of ['strict', 'live', 'off'] as const) {
          const gate = createGate({ mode });
          let [expected, outputs] = ['', [] as GateOutput[][]];
          for (const { pieces, calls, end, cut } of iterations) {
            const ended = () => (end === 'cut' ? gate.cut(cut.from, cut.rest) : gate.end(end));
            outputs = [...outputs, ...play(gate, pieces, calls), ended()];
            const said = pieces.join('');
            expected +=
              end === 'cut'
                ? expectedCut(mode, said.slice(0, cut.from) + cut.rest, calls.length, expected)
                : expectedText(mode, said, calls.length, end, expected);
          }
          expect(withSortedNames(replay(outputs))).toBe(expected);
        }
      }),
      isLong ? 100_000 : 2_000,
    );
  });

  it('[V130] a gate restored from a saved gate gives the same outputs as the original, wherever it was saved', {
    timeout,
  }, () => {
    const piece = fc.constantFrom(
      'Hi. ',
      '\n',
      '/agent a go\n',
      '/parallel\n/agent b x\n',
      '/endparallel\n',
      '```\n',
      '/a',
    );
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ type: fc.constant('text' as const), text: piece }) },
      fc.record({ type: fc.constant('delegate' as const), agent: fc.constantFrom('x', 'y') }),
      fc.record({ type: fc.constant('end' as const), end: fc.constantFrom<IterationEnd>('ok', 'failed', 'void') }),
      fc.record({ type: fc.constant('cut' as const), from: fc.nat(20), rest: fc.constantFrom('', 'Late. ') }),
    );
    const options = fc.record({
      mode: fc.constantFrom<GateMode>('strict', 'live', 'off'),
      commands: fc.boolean(),
      canDelegate: fc.boolean(),
    });
    assertProperty(
      fc.property(fc.array(step, { maxLength: 20 }), fc.nat(20), options, (steps, cut, given) => {
        const take = (gate: Gate, each: (typeof steps)[number]) => {
          if (each.type === 'text') return gate.text(each.text);
          if (each.type === 'cut') return gate.cut(each.from, each.rest);
          return each.type === 'delegate' ? gate.delegate({ agent: each.agent }) : gate.end(each.end);
        };
        const gate = createGate(given);
        for (const each of steps.slice(0, cut)) take(gate, each);
        const saved = JSON.parse(JSON.stringify(gate.save())) as SavedGate;
        const restored = createGate(given, saved);
        expect(restored.save()).toEqual(saved);
        for (const each of steps.slice(cut)) expect(take(restored, each)).toEqual(take(gate, each));
        expect(restored.save()).toEqual(gate.save());
      }),
      isLong ? 100_000 : 2_000,
    );
  });
});

describe('the status line', () => {
  it.each<[Delegation[], string]>([
    [[{ agent: 'a' }], 'a'],
    [[{ agent: 'a' }, { agent: 'a' }], 'a, a'],
    [[{ children: 16 }, { agent: 'b' }, { children: 2 }], '16 in parallel, b, 2 in parallel'],
    [[{ agent: ' a\n→ delegating: \u0007b ' }], 'a → delegating: b'],
    [[{ agent: 'é'.repeat(limits.statusNameCharsMax) }], 'é'.repeat(limits.statusNameCharsMax)],
    [[{ agent: 'é'.repeat(limits.statusNameCharsMax + 1) }], `${'é'.repeat(limits.statusNameCharsMax - 1)}…`],
    [many(limits.statusNamesMax), Array(limits.statusNamesMax).fill('a').join(', ')],
    [many(limits.statusNamesMax + 2), `${Array(limits.statusNamesMax).fill('a').join(', ')} and 2 more`],
  ])('[F35] is one line that names each agent or the number of children, case %#', (delegations, names) => {
    const gate = createGate({ mode: 'strict' });
    for (const delegation of delegations) gate.delegate(delegation);
    expect(gate.end('ok')).toEqual([text(`→ delegating: ${names}\n`)]);
  });
});

function text(delta: string): GateOutput {
  return { type: 'text', delta };
}

function many(count: number): Delegation[] {
  return Array.from({ length: count }, () => ({ agent: 'a' }));
}

/** What a reader has in the end. */
function replay(outputs: readonly GateOutput[][]): string {
  return outputs.flat().reduce((all, one) => (one.type === 'text' ? all + one.delta : all.slice(0, one.from)), '');
}

function play(gate: Gate, pieces: readonly string[], calls: readonly number[]): GateOutput[][] {
  const outputs = pieces.flatMap((piece, index) => [
    gate.text(piece),
    ...calls.filter((call) => call === index).map(() => gate.delegate({ agent: 't' })),
  ]);
  return [...outputs, ...calls.filter((call) => call >= pieces.length).map(() => gate.delegate({ agent: 't' }))];
}

/** What stays of an iteration that was cut to this text. */
function expectedCut(mode: GateMode, kept: string, calls: number, before: string): string {
  return mode === 'off' || calls === 0 ? kept : expectedText(mode, '', calls, 'ok', before);
}

/** What the rules say, from the whole text of the iteration. */
function expectedText(mode: GateMode, said: string, calls: number, end: IterationEnd, before: string): string {
  if (end === 'void') return '';
  if (end === 'failed') return said;
  const { commands, shown } = parseCommands(said);
  if (mode === 'off' || commands.length + calls === 0) return shown;
  const isLineStart = before === '' || before.endsWith('\n');
  const names = commands.map((one) => (one.type === 'agent' ? one.agent : `${one.children.length} in parallel`));
  const line = `→ delegating: ${[...names, ...Array(calls).fill('t')].join(', ')}\n`;
  return `${isLineStart ? '' : '\n'}${withSortedNames(line)}`;
}

/** Commands and calls are named in the order in which they became complete, which the whole text does not show. */
function withSortedNames(all: string): string {
  return all.replace(
    /^→ delegating: (.*)$/gm,
    (_, names: string) => `→ delegating: ${names.split(', ').sort().join(', ')}`,
  );
}
