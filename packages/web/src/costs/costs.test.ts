import type { FleetCostGroup } from '@fleetloom/protocol/fleet';
import { expect, it } from 'vitest';
import { listDays, sumAll, sumBy } from './sum-costs.ts';
import { toCsv } from './to-csv.ts';

const group: FleetCostGroup = {
  day: '2026-03-01',
  agent: 'a',
  model: 'm',
  sessions_count: 2,
  unpriced_count: 1,
  cost_usd: 0.5,
  tokens: 10,
};

it('[Z431] sums by day, agent and model add up to the total, and days without a session are 0', () => {
  const groups = [group, { ...group, agent: 'b', cost_usd: 2 }, { ...group, day: '2026-02-28', unpriced_count: 0 }];
  const total = { sessions: 6, unpriced: 2, cost: 3, tokens: 30 };
  expect(sumAll(groups)).toMatchObject(total);
  expect(sumBy(groups, 'agent').map(({ name, cost }) => [name, cost])).toEqual([
    ['b', 2],
    ['a', 1],
  ]);
  expect(sumBy(groups, 'model')).toMatchObject([{ name: 'm', ...total }]);
  expect(listDays(groups, '2026-03-01', 3).map(({ name, cost }) => [name, cost])).toEqual([
    ['2026-02-27', 0],
    ['2026-02-28', 0.5],
    ['2026-03-01', 2.5],
  ]);
});

it('[Z432] the CSV quotes what needs it, and a name never becomes a formula', () => {
  const hostile = [
    '=HYPERLINK("http://x","y")',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
    ' =1',
    '\r=1',
    '\n=1',
    '＝1',
    'a,"b"\nc',
  ];
  const lines = toCsv(hostile.map((agent) => ({ ...group, agent, cost_usd: 0.0000001 })));
  const cells = parse(lines).map((line) => line[1]!);
  expect(cells.slice(1, -1).map((cell) => cell[0])).toEqual(hostile.slice(0, -1).map(() => "'"));
  expect(cells.slice(1).map((cell) => cell.replace(/^'/, ''))).toEqual(hostile);
  expect(parse(lines)[1]).toEqual(['2026-03-01', `'${hostile[0]}`, 'm', '2', '1', '10', '0.000000100']);
  expect(parse(lines).every((line) => line.length === 7)).toBe(true);
});

/** A strict reader of RFC 4180. */
function parse(text: string): string[][] {
  const rows: string[][] = [[]];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (let match = cell.exec(text); match !== null; match = cell.exec(text)) {
    rows.at(-1)!.push(match[1] === undefined ? match[2]! : match[1].replaceAll('""', '"'));
    if (match[3] !== ',') rows.push([]);
  }
  expect(rows.pop()).toEqual([]);
  return rows;
}
