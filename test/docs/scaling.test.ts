import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { nodeLimits } from '../../packages/server/src/nodes/limits.ts';
import { storeLimits } from '../../packages/server/src/store/limits.ts';

const page = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
const numberOf = (pattern: RegExp) => Number(pattern.exec(page)?.[1]);

it('[P113] the page about scaling states the connections that nodes use at most, as measured by the test of P15', () => {
  const pooled = storeLimits.databaseConnectionsMax + 2;
  const all = pooled + 1;
  expect(numberOf(/at most (\d+) connections/)).toBe(all);
  expect(numberOf(/`max_connections` to (\d+) × nodes/)).toBe(all);
  const reserved = numberOf(/your other connections \+ (\d+)/);
  expect(numberOf(/the default, is enough for (\d+) nodes/)).toBe(Math.floor((100 - reserved) / all));
  const rows = [...page.matchAll(/^\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$/gm)].map((row) => row.slice(1).map(Number));
  expect(rows).toHaveLength(3);
  for (const [nodes = 0, ...numbers] of rows) expect(numbers).toEqual([all * nodes + reserved, pooled * nodes, nodes]);
  expect(numberOf(/none arrives\s+within (\d+) s/)).toBe(
    (storeLimits.databaseProbeMs * storeLimits.databaseProbesMax) / 1_000,
  );
  expect(numberOf(/within (\d+) s with a copy of it/)).toBe(nodeLimits.nodeClaimMs / 1_000);
});
