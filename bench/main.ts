import { spawn } from 'node:child_process';
import { catchUp } from './catch-up.ts';
import { claudeCode } from './claude-code.ts';
import { command } from './command.ts';
import { dashboard } from './dashboard.ts';
import { egress } from './egress.ts';
import { engines } from './engines.ts';
import { fleet } from './fleet.ts';
import { growth } from './growth.ts';
import type { Bench, Row } from './harness.ts';
import { http } from './http.ts';
import { nodes } from './nodes.ts';
import { sessionList } from './session-list.ts';
import { sessions } from './sessions.ts';
import { store } from './store.ts';
import { streamJson } from './stream-json.ts';
import { tools } from './tools.ts';
import { translate } from './translate.ts';
import { workspaces } from './workspaces.ts';

// npm run bench [-- name…]                  one table of everything, or of the benches and bench/cases named
// npm run -s bench -- --json [name…]        one JSON object per line, and nothing else on stdout
//
// A figure that misses its goal does not fail the run, because machines differ. Only a crash does.

const benches: Bench[] = [
  streamJson,
  store,
  sessions,
  tools,
  egress,
  workspaces,
  fleet,
  catchUp,
  growth,
  http,
  nodes,
  claudeCode,
  translate,
  engines,
  dashboard,
  sessionList,
  command,
];
const all = benches.flatMap(({ name, cases }) => cases.map((entry) => ({ bench: name, ...entry })));
type Case = (typeof all)[number];

const args = process.argv.slice(2);
const isJson = args.includes('--json');
const names = args.filter((arg) => arg !== '--json');
const unknown = names.filter((name) => !all.some((entry) => isCalled(entry, name)));
const selected = names.length === 0 ? all : all.filter((entry) => names.some((name) => isCalled(entry, name)));
if (unknown.length === 0) await runAll(selected);
else {
  const known = [...benches.map(({ name }) => name), ...all.map((entry) => `${entry.bench}/${entry.name}`)];
  process.stderr.write(`Unknown: ${unknown.join(' ')}\nThere are: ${known.join(' ')}\n`);
  process.exitCode = 2;
}

function isCalled({ bench, name }: Case, wanted: string): boolean {
  return wanted === bench || wanted === `${bench}/${name}`;
}

async function runAll(cases: Case[]): Promise<void> {
  const startedAt = performance.now();
  if (!isJson) print('bench/case', 'value', 'floor', 'ratio', 'goal', '');
  for (const entry of cases) {
    const { bench, name } = entry;
    try {
      report(cases.length === 1 ? { bench, case: name, ...(await entry.run()) } : await runAlone(entry));
    } catch (error) {
      // The other figures are still useful; the exit code shows that one is missing.
      process.exitCode = 1;
      process.stderr.write(`${bench}/${name} crashed: ${error instanceof Error ? error.stack : String(error)}\n`);
    }
  }
  if (!isJson) process.stdout.write(`${((performance.now() - startedAt) / 1000).toFixed(0)} s\n`);
}

/** In a separate process: compiled code depends on what ran before, and a figure must not depend on the selection. */
async function runAlone({ bench, name }: Case): Promise<Row> {
  const command = [...process.execArgv, process.argv[1]!, '--json', `${bench}/${name}`];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`its process ended with ${String(code)}`);
  return JSON.parse(output) as Row;
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

/** Rounds to four significant digits; more would be noise. */
function round<Figure extends number | null>(figure: Figure): Figure {
  return (figure === null ? null : Number(figure.toPrecision(4))) as Figure;
}
