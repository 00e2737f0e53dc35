import { expect, it } from 'vitest';
import { evaluate, withoutName } from './evaluate.ts';
import { parsePromql } from './parse.ts';
import { SeriesStore } from './series-store.ts';

// The expected values are those of `promtool test rules` of Prometheus 2.42 for the same series.

const values = {
  'c{job="a"}': [0, 10, 20, 5, 15, 25],
  'c{job="b"}': [1_000, 1_000, 1_000, 1_000, 1_007, 1_007],
  'l_bucket{le="0.1"}': [0, 5, 10, 15, 20, 25],
  'l_bucket{le="1"}': [0, 8, 16, 24, 32, 40],
  'l_bucket{le="+Inf"}': [0, 9, 18, 27, 36, 45],
} as const;

const cases: readonly (readonly [string, readonly (readonly [object, number])[]])[] = [
  [
    'increase(c[1m])',
    [
      [{ job: 'a' }, 35],
      [{ job: 'b' }, 7],
    ],
  ],
  ['rate(c{job="b"}[5m])', [[{ job: 'b' }, 0.02566666666666667]]],
  [
    'changes(c[1m])',
    [
      [{ job: 'a' }, 4],
      [{ job: 'b' }, 1],
    ],
  ],
  ['sum(c)', [[{}, 1_032]]],
  ['sum by (job) (c) > 100', [[{ job: 'b' }, 1_007]]],
  ['max(c{job!="b"}) - 5 * 2', [[{}, 15]]],
  ['histogram_quantile(0.5, rate(l_bucket[1m]))', [[{}, 0.09]]],
  ['histogram_quantile(0.8, sum by (le) (l_bucket))', [[{}, 0.76]]],
  ['histogram_quantile(0.99, l_bucket)', [[{}, 1]]],
  ['c{job=~"b|x"} / c', [[{ job: 'b' }, 1]]],
  ['max_over_time(c{job="a"}[5m]) >= 25', [[{ job: 'a' }, 25]]],
  ['c == 3', []],
];

it('[P126] the evaluator of alert rules gives the results of Prometheus, and rejects what it does not know', () => {
  const store = new SeriesStore();
  for (let index = 0; index < 6; index++) {
    const lines = Object.entries(values).map(([series, each]) => `${series} ${each[index]}`);
    store.scrape({}, index * 15_000, lines.join('\n'));
  }
  for (const [text, expected] of cases) {
    const samples = evaluate(store, parsePromql(text), 75_000).map(({ labels, value }) => [withoutName(labels), value]);
    expect(samples, text).toEqual(expected.map(([labels, value]) => [labels, expect.closeTo(value, 10)]));
  }
  // A series that a scrape does not have any more has no value, and a target that does not answer is down.
  store.scrape({}, 80_000, 'c{job="b"} 1');
  expect(evaluate(store, parsePromql('c{job="a"}'), 80_000)).toEqual([]);
  store.scrape({}, 85_000, undefined);
  expect(evaluate(store, parsePromql('up == 0'), 85_000)).toHaveLength(1);
  expect(evaluate(store, parsePromql('c'), 85_000)).toEqual([]);
  for (const text of ['absent(c)', 'c offset 5m', 'c or c', 'topk(3, c)', 'c[5m', 'sum(c', 'c{a="b"} c']) {
    expect(() => parsePromql(text), text).toThrow(SyntaxError);
  }
});
