import { describe, expect, it } from 'vitest';
import { costOf } from './cost-of.ts';
import { PRICES_READ, prices } from './catalog/prices.ts';
import { noUsage } from './usage.ts';

const million = 1_000_000;

describe('known models', () => {
  it.each([
    ['claude-opus-5-5', 4, 20, 0.2, 5, 8],
    ['claude-opus-5', 5, 25, 0.5, 6.25, 10],
    ['claude-opus-4-5', 5, 25, 0.5, 6.25, 10],
    ['claude-opus-4-1', 15, 75, 1.5, 18.75, 30],
    ['claude-sonnet-5', 2, 10, 0.2, 2.5, 4],
    ['claude-sonnet-4-5', 3, 15, 0.3, 3.75, 6],
    ['claude-haiku-4-5', 1, 5, 0.1, 1.25, 2],
    ['claude-fable-5-1', 10, 50, 0.25, 12.5, 20],
  ])('[N35] each kind of token has its price: %s', (model, input, output, read, write5m, write1h) => {
    expect(costOf(model, { ...noUsage, inputTokens: million })).toBeCloseTo(input, 9);
    expect(costOf(model, { ...noUsage, outputTokens: million })).toBeCloseTo(output, 9);
    expect(costOf(model, { ...noUsage, cacheReadTokens: million })).toBeCloseTo(read, 9);
    expect(costOf(model, { ...noUsage, cacheWrite5mTokens: million })).toBeCloseTo(write5m, 9);
    expect(costOf(model, { ...noUsage, cacheWrite1hTokens: million })).toBeCloseTo(write1h, 9);
  });

  it('[N35] an answer costs the sum, and a dated name is the same model', () => {
    const usage = {
      inputTokens: 1_000,
      outputTokens: 500,
      cacheReadTokens: 10_000,
      cacheWrite5mTokens: 2_000,
      cacheWrite1hTokens: 0,
    };
    expect(costOf('claude-haiku-4-5-20251001', usage)).toBeCloseTo(0.001 + 0.0025 + 0.001 + 0.0025, 9);
    expect(costOf('claude-haiku-4-5', noUsage)).toBe(0);
  });

  it('[N35] long input can cost more, from the first token over the border on', () => {
    const at = {
      ...noUsage,
      inputTokens: 40_000,
      cacheReadTokens: 30_000,
      cacheWrite5mTokens: 20_000,
      cacheWrite1hTokens: 10_000,
    };
    const before = costOf('claude-haiku-5-5', at) ?? Number.NaN;
    expect(before).toBeCloseTo(0.004 + 0.0003 + 0.0025 + 0.002, 9);
    expect(costOf('claude-haiku-5-5', { ...at, inputTokens: 40_001 })).toBeCloseTo(before * 5 + 0.0000005, 9);
  });

  it('[N35] the price table has its date', () => {
    expect(PRICES_READ).toMatch(/^20\d\d-\d\d/);
    for (const price of Object.values(prices)) {
      expect(price.output).toBeGreaterThan(price.input);
      expect(price.cacheRead).toBeLessThan(price.input);
    }
  });
});

describe('the others', () => {
  it.each(['claude-fable-5-2', 'gpt-9', '', 'constructor', 'claude-opus-5-5-fast', 'anthropic.claude-opus-5'])(
    '[N36] an unknown cost is null, not zero: %s',
    (model) => {
      expect(costOf(model, { ...noUsage, inputTokens: 1 })).toBeNull();
    },
  );

  it('[N36] scripted models cost nothing', () => {
    expect(costOf('scripted/echo', { ...noUsage, inputTokens: million })).toBe(0);
  });

  it('[N36] fast mode has its own price, or null', () => {
    expect(costOf('claude-opus-5-5', { ...noUsage, outputTokens: million }, 'fast')).toBe(40);
    expect(costOf('claude-sonnet-5', { ...noUsage, outputTokens: million }, 'fast')).toBeNull();
  });
});

it('[Y430] models of the demo have an example price, and other scripted models cost nothing', () => {
  const usage = { ...noUsage, inputTokens: million, outputTokens: million };
  expect(costOf('scripted/demo-lead-25', usage)).toBeCloseTo(18, 9);
  expect([costOf('scripted/echo', usage), costOf('scripted/', usage)]).toEqual([0, 0]);
});
