import { expect, it } from 'vitest';
import { contextWindowOf } from './context-window.ts';

it('[N37] every model has a window: its own, or the one of unknown models', () => {
  expect(contextWindowOf('claude-opus-5-5')).toBe(1_000_000);
  expect(contextWindowOf('claude-haiku-4-5-20251001')).toBe(200_000);
  for (const id of ['claude-fable-9', 'gpt-9', 'scripted/echo', 'toString']) expect(contextWindowOf(id)).toBe(200_000);
});

it('[N37] operators and tests may set windows, the closest name first', () => {
  const overrides = { 'scripted/*': 2_000, 'scripted/ec*': 3_000, 'scripted/echo': 1_000, 'claude-haiku-4-5': 100_000 };
  expect(contextWindowOf('scripted/echo', overrides)).toBe(1_000);
  expect(contextWindowOf('scripted/ech', overrides)).toBe(3_000);
  expect(contextWindowOf('scripted/team', overrides)).toBe(2_000);
  expect(contextWindowOf('claude-haiku-4-5', overrides)).toBe(100_000);
  expect(contextWindowOf('claude-opus-5', overrides)).toBe(1_000_000);
});
