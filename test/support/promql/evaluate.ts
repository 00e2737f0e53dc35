import type { Expression, Matcher, Selector } from './parse.ts';
import type { Labels, Series, SeriesStore } from './series-store.ts';

/** One value of an instant vector. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** Evaluates an expression at a time, as Prometheus 2 does. `scale` divides its durations, so that a test need not last for minutes. */
export function evaluate(store: SeriesStore, expression: Expression, at: number, scale = 1): Sample[] {
  if (expression.type === 'selector') {
    if (expression.rangeMs !== undefined) throw new TypeError('a range needs a function');
    return select(store, expression).flatMap((series) => {
      const value = store.valueAt(series, at);
      return value === undefined ? [] : [{ labels: series.labels, value }];
    });
  }
  if (expression.type === 'number') return [{ labels: {}, value: expression.value }];
  if (expression.type === 'call') return call(store, expression, at, scale);
  if (expression.type === 'aggregate') {
    const samples = evaluate(store, expression.of, at, scale);
    return [...groupBy(samples, expression.by)].map(([, group]) => ({
      labels: pick(group[0]!.labels, expression.by),
      value: AGGREGATE[expression.name]!(group.map(({ value }) => value)),
    }));
  }
  const left = evaluate(store, expression.left, at, scale);
  const right = evaluate(store, expression.right, at, scale);
  return combine(expression, left, right);
}

const AGGREGATE: Readonly<Record<string, (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  count: (values) => values.length,
  avg: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
};

function call(
  store: SeriesStore,
  { name, args }: Extract<Expression, { type: 'call' }>,
  at: number,
  scale: number,
): Sample[] {
  if (name === 'time') return [{ labels: {}, value: at / 1_000 }];
  if (name === 'histogram_quantile') {
    const [quantile, buckets] = args as [Expression, Expression];
    return toQuantiles((quantile as { value: number }).value, evaluate(store, buckets, at, scale));
  }
  const [range] = args;
  if (range?.type !== 'selector' || range.rangeMs === undefined) throw new TypeError(`${name} needs a range`);
  const rangeMs = range.rangeMs / scale;
  return select(store, range).flatMap((series) => {
    const points = series.points.filter(([time, value]) => time >= at - rangeMs && time <= at && value !== undefined);
    const value = OVER_TIME[name]!(points as [number, number][], at - rangeMs, at);
    return value === undefined ? [] : [{ labels: withoutName(series.labels), value }];
  });
}

type OverTime = (points: readonly [number, number][], from: number, to: number) => number | undefined;

const OVER_TIME: Readonly<Record<string, OverTime>> = {
  increase,
  rate: (points, from, to) => {
    const grown = increase(points, from, to);
    return grown === undefined ? undefined : grown / ((to - from) / 1_000);
  },
  changes: (points) =>
    points.length === 0
      ? undefined
      : points.filter(([, value], index) => index > 0 && value !== points[index - 1]![1]).length,
  max_over_time: (points) => (points.length === 0 ? undefined : Math.max(...points.map(([, value]) => value))),
};

/** With the extrapolation of Prometheus to both ends of the range, but not below zero, and not far beyond the points. */
function increase(points: readonly [number, number][], from: number, to: number): number | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2) return undefined;
  // A value below the one before: the process was restarted, and counted from zero.
  const resets = points.reduce((sum, [, value], index) => {
    const before = index === 0 ? value : points[index - 1]![1];
    return value < before ? sum + before : sum;
  }, 0);
  const grown = last[1] - first[1] + resets;
  const sampled = last[0] - first[0];
  const average = sampled / (points.length - 1);
  const isFar = (distance: number) => distance >= average * 1.1;
  let toStart = isFar(first[0] - from) ? average / 2 : first[0] - from;
  const toEnd = isFar(to - last[0]) ? average / 2 : to - last[0];
  if (grown > 0 && first[1] >= 0) toStart = Math.min(toStart, sampled * (first[1] / grown));
  return grown * ((sampled + toStart + toEnd) / sampled);
}

function toQuantiles(quantile: number, buckets: readonly Sample[]): Sample[] {
  const groups = new Map<string, Sample[]>();
  for (const bucket of buckets) {
    const key = JSON.stringify(without(bucket.labels, 'le'));
    groups.set(key, [...(groups.get(key) ?? []), bucket]);
  }
  return [...groups.values()].flatMap((group) => {
    const labels = without(group[0]!.labels, 'le');
    const sorted = group
      .map(({ labels: { le = '' }, value }) => ({ bound: le === '+Inf' ? Infinity : Number(le), count: value }))
      .sort((a, b) => a.bound - b.bound);
    const value = toQuantile(quantile, sorted);
    return value === undefined ? [] : [{ labels, value }];
  });
}

function toQuantile(
  quantile: number,
  buckets: readonly { readonly bound: number; readonly count: number }[],
): number | undefined {
  const total = buckets.at(-1)?.count ?? 0;
  if (total === 0 || buckets.length < 2) return undefined;
  const rank = quantile * total;
  const index = buckets.findIndex(({ count }) => count >= rank);
  // Beyond the last bound nothing is known.
  if (buckets[index]!.bound === Infinity) return buckets.at(-2)!.bound;
  const before = index === 0 ? { bound: 0, count: 0 } : buckets[index - 1]!;
  const { bound, count } = buckets[index]!;
  return before.bound + (bound - before.bound) * ((rank - before.count) / (count - before.count));
}

const OPERATE: Readonly<Record<string, (a: number, b: number) => number | boolean>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '>': (a, b) => a > b,
  '<': (a, b) => a < b,
  '>=': (a, b) => a >= b,
  '<=': (a, b) => a <= b,
};

/** A comparison keeps the samples for which it holds. */
function combine(
  { operator, left, right }: Extract<Expression, { type: 'binary' }>,
  lefts: readonly Sample[],
  rights: readonly Sample[],
): Sample[] {
  const operate = OPERATE[operator]!;
  const byLabels = new Map(rights.map((sample) => [JSON.stringify(withoutName(sample.labels)), sample]));
  const pairOf = (sample: Sample): readonly [Sample, Sample] | undefined => {
    if (isScalar(right)) return [sample, rights[0]!];
    const other = byLabels.get(JSON.stringify(withoutName(sample.labels)));
    return other === undefined ? undefined : [sample, other];
  };
  const pairs = isScalar(left) ? rights.map((sample) => [lefts[0]!, sample] as const) : lefts.map(pairOf);
  return pairs.flatMap((pair) => {
    if (pair === undefined) return [];
    const result = operate(pair[0].value, pair[1].value);
    const kept = isScalar(left) ? pair[1] : pair[0];
    if (typeof result === 'boolean') return result ? [kept] : [];
    return [{ labels: withoutName(kept.labels), value: result }];
  });
}

function isScalar(expression: Expression): boolean {
  return expression.type === 'number' || (expression.type === 'call' && expression.name === 'time');
}

function select(store: SeriesStore, { name, matchers }: Selector): readonly Series[] {
  return store.ofName(name).filter(({ labels }) => matchers.every((matcher) => matches(labels, matcher)));
}

function matches(labels: Labels, { label, operator, value }: Matcher): boolean {
  const actual = labels[label] ?? '';
  if (operator === '=') return actual === value;
  if (operator === '!=') return actual !== value;
  const isMatch = new RegExp(`^(?:${value})$`).test(actual);
  return operator === '=~' ? isMatch : !isMatch;
}

function groupBy(samples: readonly Sample[], by: readonly string[]): Map<string, Sample[]> {
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    const key = JSON.stringify(pick(sample.labels, by));
    groups.set(key, [...(groups.get(key) ?? []), sample]);
  }
  return groups;
}

function pick(labels: Labels, names: readonly string[]): Labels {
  return Object.fromEntries(names.flatMap((name) => (labels[name] === undefined ? [] : [[name, labels[name]]])));
}

/** The labels without the name of the metric. */
export function withoutName(labels: Labels): Labels {
  return without(labels, '__name__');
}

function without(labels: Labels, name: string): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([label]) => label !== name));
}
