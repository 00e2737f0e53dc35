import { expect, it } from 'vitest';
import { limits } from '../limits.ts';
import { toRuleText } from './rule-text.ts';

it('[V113] a rule names the tool, the field and the pattern, or the whole input', () => {
  expect(toRuleText({ tool: 'bash', field: 'command', pattern: 'git *' })).toBe('bash(command: git *)');
  expect(toRuleText({ tool: 'x', field: null, pattern: '{"a":1}' })).toBe('x(input: {"a":1})');
});

it('[V113] one of 4,096 characters is whole; a longer one is cut, with its length', () => {
  const sized = (chars: number, letter = 'x') => ({
    tool: 'write',
    field: null,
    pattern: letter.repeat((chars - 'write(input: )'.length) / letter.length),
  });
  expect(limits.ruleCharsMax).toBe(4_096);
  expect(toRuleText(sized(4_096))).toMatch(/^write\(input: x{4082}\)$/);
  const cut = toRuleText(sized(4_097));
  expect(cut).toMatch(/^write\(input: x+… \(4097 characters\)$/);
  expect(cut).toHaveLength(4_096);
  // A cut through the middle of a character would leave a text that not every store takes.
  for (const more of [0, 1]) {
    const text = toRuleText({ tool: 'w'.repeat(5 + more), field: null, pattern: '😀'.repeat(4_000) });
    expect([text.length <= 4_096, /\ud83d(?!\ude00)/.test(text)]).toEqual([true, false]);
  }
});
