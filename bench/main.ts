import type { Bench, Row } from './harness.ts';
import { streamJson } from './stream-json.ts';

// npm run bench [-- name…]                  one table of everything, or of the benches and bench/cases named
// npm run -s bench -- --json [name…]        one JSON object per line, and nothing else on stdout
//
// A figure that misses its goal is no failure of the run: machines differ, and tests are elsewhere. Only a crash is.

const benches: Bench[] = [streamJson];

const args = process.argv.slice(2);
const isJson = args.includes('--json');
const names = args.filter((arg) => arg !== '--json');
const selected = select(names);
if (selected === undefined) {
  const known = benches.flatMap(({ name, cases }) => [name, ...cases.map((entry) => `${name}/${entry.name}`)]);
  process.stderr.write(`Usage: npm run bench -- [--json] [name…]\nNames: ${known.join(' ')}\n`);
  process.exitCode = 2;
} else {
  await runAll(selected);
}

function select(wanted: string[]): Bench[] | undefined {
  const has = (bench: string, entry: string) => wanted.includes(bench) || wanted.includes(`${bench}/${entry}`);
  if (wanted.length === 0) return benches;
  const found = benches.map(({ name, cases }) => ({ name, cases: cases.filter((entry) => has(name, entry.name)) }));
  const isKnown = (want: string) =>
    benches.some(({ name, cases }) => want === name || cases.some((entry) => want === `${name}/${entry.name}`));
  return wanted.every(isKnown) ? found : undefined;
}

async function runAll(wanted: Bench[]): Promise<void> {
  const startedAt = performance.now();
  if (!isJson) print('bench/case', 'value', 'floor', 'ratio', 'goal', '');
  for (const { name, cases } of wanted) {
    for (const entry of cases) {
      try {
        report({ bench: name, case: entry.name, ...(await entry.run()) });
      } catch (error) {
        // The others still tell something; the exit code says that one is missing.
        process.exitCode = 1;
        process.stderr.write(
          `${name}/${entry.name} crashed: ${error instanceof Error ? error.stack : String(error)}\n`,
        );
      }
    }
  }
  if (!isJson) process.stdout.write(`${((performance.now() - startedAt) / 1000).toFixed(0)} s\n`);
}

function report(row: Row): void {
  const { bench, case: name, value, unit, floor, ratio, goal, ok } = row;
  if (isJson) {
    const words = { bench, case: name, value: round(value), unit, floor: round(floor), ratio: round(ratio), goal, ok };
    process.stdout.write(`${JSON.stringify(words)}\n`);
    return;
  }
  const show = (figure: number | null, after: string) => (figure === null ? '–' : `${round(figure)} ${after}`.trim());
  print(`${bench}/${name}`, show(value, unit), show(floor, unit), show(ratio, ''), goal, ok ? '' : 'MISSED');
}

function print(name: string, value: string, floor: string, ratio: string, goal: string, ok: string): void {
  const columns = [
    name.padEnd(30),
    value.padStart(14),
    floor.padStart(14),
    ratio.padStart(8),
    `  ${goal.padEnd(20)}`,
    ok,
  ];
  process.stdout.write(`${columns.join(' ').trimEnd()}\n`);
}

/** Four digits say all that such a measurement knows. */
function round<Figure extends number | null>(figure: Figure): Figure {
  return (figure === null ? null : Number(figure.toPrecision(4))) as Figure;
}
