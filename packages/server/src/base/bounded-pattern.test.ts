import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertProperty, isLong, timeout } from '../../../../test/support/seed.ts';
import { compileBounded, estimateSize, WorkBudget } from './bounded-pattern.ts';
import { baseLimits } from './limits.ts';
import { compilePattern, PatternError } from './linear-regex.ts';

describe('what a pattern finds', () => {
  it.each([
    ['b.g', 'a bug', true],
    ['b.g', 'a bag\n', true],
    ['^bug', 'a bug', false],
    ['^a bug$', 'a bug', true],
    ['bug$', 'bugs', false],
    [String.raw`2 \*\* n`, 'base * 2 ** n', true],
    [String.raw`exit code \d`, 'exit code 7', true],
    [String.raw`\S`, ' \n\t', false],
    [String.raw`\S`, ' \n\tx', true],
    ['(?i)BUG', 'a bug', true],
    ['', '', true],
    ['漢', '一漢', true],
  ])('[D11] %j in %j: %s', (source, text, isThere) => {
    expect(compileBounded(source).test(text)).toBe(isThere);
  });

  it.each([
    [String.raw`\((\w+)\)`, '(a) (b)', 'b'],
    [String.raw`see \S+`, 'see a see b', undefined],
    ['(a)|b', 'ab', undefined],
    ['x', 'x x', undefined],
  ])('[D11] the last match of %j in %j has the first group %j', (source, text, group) => {
    expect(compileBounded(source).findLast(text)!.groups[0]).toBe(group);
    expect(compileBounded(source).findLast('')).toBeUndefined();
  });

  it('[D11] a text, also with escapes and anchors, is found where RE2 finds it', { timeout }, () => {
    const characters = fc.constantFrom('a', 'b', ' ', '\n', '.', '*', '/', '-', '$', '^', '\\', '漢', '(', '}');
    const escaped = fc
      .array(characters, { maxLength: 5 })
      .map((all) => all.map((one) => (/\w|\s|漢/.test(one) ? one : `\\${one}`)));
    assertProperty(
      fc.property(
        fc.constantFrom('', '^'),
        escaped,
        fc.constantFrom('', '$'),
        fc.string({ unit: characters }),
        (start, body, end, text) => {
          const source = `${start}${body.join('')}${end}`;
          const bounded = compileBounded(source);
          expect(bounded.size).toBe(0);
          expect(bounded.test(text)).toBe(compilePattern(source).test(text));
          expect(bounded.findLast(text)?.text).toBe([...compilePattern(source).findAll(text)].at(-1)?.text);
        },
      ),
      isLong ? 20_000 : 1_000,
    );
  });

  it.each([
    ['(?=a)', 'look-ahead and look-behind'],
    ['a(?!b)', 'look-ahead and look-behind'],
    ['(?<=a)b', 'look-ahead and look-behind'],
    ['(?<!a)b', 'look-ahead and look-behind'],
    [String.raw`(a)\1`, 'back-references'],
    [String.raw`(?<n>a)\k<n>`, 'back-references'],
    ['(?>a)', 'atomic groups'],
    [String.raw`\u0041.`, String.raw`\u escapes`],
    ['(', 'missing closing )'],
    ['a**', 'invalid nested repetition operator'],
  ])('[D12] %j is refused, and the message names the construct: %s', (source, named) => {
    expect(() => compileBounded(source)).toThrow(PatternError);
    expect(() => compileBounded(source)).toThrow(named);
  });
});

describe('what a pattern costs', () => {
  it('[D13] 1,000 characters are allowed, and one more is refused', () => {
    expect(baseLimits.patternCharsMax).toBe(1_000);
    expect(compileBounded('a'.repeat(baseLimits.patternCharsMax)).test('a')).toBe(false);
    expect(() => compileBounded('a'.repeat(baseLimits.patternCharsMax + 1))).toThrow(
      'has 1001 characters, and 1000 are',
    );
  });

  it('[D13] 1,000 instructions are allowed, and a larger pattern is refused before it is compiled', () => {
    expect(baseLimits.patternSizeMax).toBe(1_000);
    expect(compileBounded('a.'.repeat(450)).size).toBeLessThanOrEqual(baseLimits.patternSizeMax);
    for (const source of [
      'a.'.repeat(500),
      '(.?){999}',
      '(?:.{99}){99}',
      '(?:(?:a{9}){9}){99}'.repeat(50),
      String.raw`(?:\pL?){99}`,
    ]) {
      const start = process.cpuUsage();
      expect(() => compileBounded(source)).toThrow(/has \d+ instructions, and 1000 are allowed/);
      expect(process.cpuUsage(start).user / 1e3).toBeLessThan(50);
    }
  });

  it('[D13] steps are characters times instructions, and all patterns share one budget', () => {
    const pattern = compileBounded('[ab]+c');
    const most = Math.floor((baseLimits.patternStepsMax - 50) / (pattern.size + 16)) - 1;
    expect(pattern.test('x'.repeat(most))).toBe(false);
    expect(() => pattern.test('x'.repeat(most + 1))).toThrow(/"\[ab\]\+c" takes \d+ steps, and 1500000 of 1500000 are/);
    const budget = new WorkBudget();
    expect(pattern.test('x'.repeat(most - 10), budget)).toBe(false);
    expect(pattern.test('x', budget)).toBe(false);
    expect(() => pattern.test('x'.repeat(10), budget)).toThrow(PatternError);
  });

  it('[D13] a plain text may be looked for in 5,999,960 characters', () => {
    const most = (baseLimits.patternStepsMax - 10) * 4;
    expect(compileBounded('needle').test('x'.repeat(most))).toBe(false);
    expect(() => compileBounded('needle').test('x'.repeat(most + 1))).toThrow(PatternError);
  });

  it('[D13] each match counts, because finding the next one may take as long as finding the first', () => {
    const pattern = compileBounded('x*y|x');
    expect(pattern.findLast('x'.repeat(100))).toMatchObject({ text: 'x' });
    expect(() => pattern.findLast('x'.repeat(10_000))).toThrow(PatternError);
  });

  it.each([
    '(a+)+$',
    '(?:a|b|ab)*c',
    '(?:.?){150}[01]',
    '(?:a.{50}){3}[01]',
    '[ab]*a[ab]{12}[cd]',
    '[ab]*a[ab]{200}[cd]',
    '((((a*)*)*)*)*[01]',
    '(.*)(.*)(.*)(.*)(.*)[01]',
    String.raw`(\d?(?i:k)*[^c])*`,
  ])('[D14] the longest text that is allowed for %j takes less than 250 ms of processor time here', (source) => {
    const pattern = compileBounded(source);
    const most = Math.floor((baseLimits.patternStepsMax - 50) / (pattern.size + 16)) - 1;
    for (const text of ['a'.repeat(most), 'ab'.repeat(most / 2), 'x y '.repeat(most / 4)]) {
      const start = process.cpuUsage();
      pattern.test(text);
      const { user, system } = process.cpuUsage(start);
      // 10 to 40 ms on a quiet machine. Backtracking takes years.
      expect((user + system) / 1e3).toBeLessThan(250);
    }
  });

  it('[D14] no pattern becomes larger than it was estimated', { timeout }, () => {
    const atoms = fc.constantFrom(
      'a',
      '.',
      '[ab]',
      '[^c]',
      String.raw`\w`,
      String.raw`\b`,
      '(?i:k)',
      '[[:alpha:]]',
      String.raw`\pL`,
      String.raw`\p{Greek}`,
      String.raw`\Qa.b\E`,
      '(?P<n>a)',
      '$',
    );
    const repeats = fc.constantFrom('', '', '*', '+?', '?', '{3}', '{2,}', '{0,40}', '{7,9}?');
    const pieces = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
      piece: fc
        .tuple(
          fc.oneof(
            { depthSize: 'small' },
            atoms,
            tie('pattern').map((inner) => `(${inner})`),
            tie('pattern').map((inner) => `(?:${inner}|x)`),
          ),
          repeats,
        )
        .map(([atom, repeat]) => `(?:${atom})${repeat}`),
      pattern: fc.array(tie('piece'), { minLength: 1, maxLength: 3 }).map((all) => all.join('')),
    }));
    assertProperty(
      fc.property(pieces.pattern, (source) => {
        const estimated = estimateSize(source);
        fc.pre(estimated < 20_000 && !/\(\?P<n>.*\(\?P<n>/.test(source));
        try {
          expect(compilePattern(source).size).toBeLessThanOrEqual(estimated + 2);
        } catch (error) {
          // Repeated too often for RE2.
          expect(error).toBeInstanceOf(PatternError);
        }
      }),
      isLong ? 10_000 : 500,
    );
  });
});
