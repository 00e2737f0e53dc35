import { expect, it } from 'vitest';
import { createRegistry } from './registry.ts';

const catalog = {
  a_total: { type: 'counter', help: 'Things.' },
  b: { type: 'gauge', help: 'Now.' },
  c_seconds: { type: 'histogram', help: 'Time.' },
  d: { type: 'gauge', help: 'By kind.' },
};

it('[W21] numbers are written as Prometheus reads them: each bucket holds the smaller ones, labels are escaped', () => {
  const registry = createRegistry(catalog);
  const count = registry.counter('a_total', [{ name: 'seen later' }]);
  count({ name: 'q"\\\n' });
  count({ name: 'q"\\\n' }, 2);
  count();
  registry.read('b', () => 7);
  const observe = registry.histogram('c_seconds', [0.1, 1]);
  for (const seconds of [0.1, 0.5, 2]) observe(seconds);
  registry.read('d', () => [{ labels: { kind: 'x' }, value: 1 }]);
  expect(registry.toText()).toBe(`# HELP a_total Things.
# TYPE a_total counter
a_total{name="seen later"} 0
a_total{name="q\\"\\\\\\n"} 3
a_total 1
# HELP b Now.
# TYPE b gauge
b 7
# HELP c_seconds Time.
# TYPE c_seconds histogram
c_seconds_bucket{le="0.1"} 1
c_seconds_bucket{le="1"} 2
c_seconds_bucket{le="+Inf"} 3
c_seconds_sum 2.6
c_seconds_count 3
# HELP d By kind.
# TYPE d gauge
d{kind="x"} 1
`);
});
