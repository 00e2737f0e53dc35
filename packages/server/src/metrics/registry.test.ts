import { expect, it } from 'vitest';
import { createRegistry } from './registry.ts';

it('[W21] numbers are written as Prometheus reads them: each bucket holds the smaller ones, labels are escaped', () => {
  const registry = createRegistry();
  const count = registry.counter('a_total', 'Things.');
  count({ name: 'q"\\\n' });
  count({ name: 'q"\\\n' }, 2);
  count();
  registry.gauge('b', 'Now.', () => 7);
  const observe = registry.histogram('c_seconds', 'Time.', [0.1, 1]);
  for (const seconds of [0.1, 0.5, 2]) observe(seconds);
  expect(registry.toText()).toBe(`# HELP a_total Things.
# TYPE a_total counter
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
`);
});
