import { expect, it } from 'vitest';
import { addUsage, sumTokens, toTotals } from './usage.ts';

it('[R500] whatever an endpoint, a program or an import reports, totals are whole numbers that can be written and read', () => {
  const reported = (count: number) =>
    toTotals(
      {
        inputTokens: count,
        outputTokens: count,
        cacheReadTokens: count,
        cacheWrite5mTokens: count,
        cacheWrite1hTokens: count,
      },
      count * 1e9,
    );
  for (const count of [Number.MAX_SAFE_INTEGER, 1e308, Number.POSITIVE_INFINITY, 3e14, 0.5, -1, Number.NaN]) {
    const totals = addUsage(reported(count), reported(count));
    const all = [...Object.values(totals), sumTokens(totals)];
    expect([count, all.filter((each) => !(Number.isSafeInteger(each) && Number(each) >= 0))]).toEqual([count, []]);
  }
  expect(reported(7)).toMatchObject({ input_tokens: 7, cache_creation_1h_input_tokens: 7, cost_nano_usd: 7e9 });
  expect(toTotals(null, 5)).toMatchObject({ input_tokens: 0, cost_nano_usd: 0 });
});
