import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildProgram, MAIN } from '../../packages/cli/test-support/processes.ts';
import { repositoryRoot } from '../support/root.ts';

const FOLDER = join(repositoryRoot, 'examples');
const PROGRAMS = readdirSync(FOLDER).filter((name) => name.endsWith('.mjs'));

/** The last line of each example. One that is not listed is not run, and the test of the list fails. */
const LAST_LINES: Readonly<Record<string, RegExp>> = {
  '01-coordinator.mjs': /^ok: three members reported$/,
  '02-approval.mjs': /^ok: the member went on and reported "The notes are written\."$/,
  '03-custom-tool.mjs': /^ok: Order 4711 is on its way\.$/,
  '04-live-previews.mjs': /^ok: \d+ previews, one message$/,
  '05-reconnect.mjs': /^ok: \d+ connections, \d+ events, none missing and none twice$/,
  '06-watch-fleet.mjs': /^ok: \d+ turns, none missed$/,
  '07-worker.mjs': /^ok: the file is on this machine$/,
  '08-stream-json.mjs': /^ok: \d+ events of \d+ agents$/,
};

/** Standard input of the examples that read it. */
const INPUTS: Readonly<Record<string, string>> = {
  '08-stream-json.mjs': join(repositoryRoot, 'fixtures', 'stream-json', '2.1.325', 'agents-parallel.ndjson'),
};

let server: { readonly process: ChildProcess; readonly data: string; readonly env: NodeJS.ProcessEnv };

beforeAll(async () => {
  buildProgram();
  server = await serve();
}, 240_000);

afterAll(async () => {
  server.process.kill('SIGTERM');
  if (server.process.exitCode === null) await once(server.process, 'exit');
  await rm(server.data, { recursive: true, force: true });
}, 60_000);

describe('examples', () => {
  it.each(Object.entries(LAST_LINES))(
    '[Q40] %s runs unchanged against the real server, and its own checks pass',
    async (name, lastLine) => {
      const { code, output } = await run(name);
      expect(`${code} ${output}`).toMatch(/^0 /);
      expect(output.trimEnd().split('\n').at(-1)).toMatch(lastLine);
    },
    180_000,
  );

  it('[Q40] an example fails if it cannot do what it shows', async () => {
    const nowhere = { ...server.env, ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' };
    const { code, output } = await run('01-coordinator.mjs', nowhere);
    expect([code, output]).toEqual([1, expect.stringMatching(/Connection error/)]);
  }, 60_000);

  it('[Q41] each begins with what it shows and how to run it, and the index lists it', () => {
    expect(PROGRAMS.toSorted()).toEqual(Object.keys(LAST_LINES).toSorted());
    const index = readFileSync(join(FOLDER, 'README.md'), 'utf8');
    for (const name of PROGRAMS) {
      const source = readFileSync(join(FOLDER, name), 'utf8');
      const [head = ''] = source.split('\nimport ');
      expect(head).toMatch(/^\/\/ [A-Z][^]*\.\n\/\/\n/);
      expect(head).toContain(`node examples/${name}`);
      expect(index).toContain(`[${name}](${name})`);
      // Two screens at most.
      expect([name, source.split('\n').length <= 100]).toEqual([name, true]);
    }
  });
});

/** Runs the program as from a terminal. */
async function run(name: string, env = server.env): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [join('examples', name)], { cwd: repositoryRoot, env });
  const input = INPUTS[name];
  if (input === undefined) child.stdin.end();
  else createReadStream(input).pipe(child.stdin);
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: `${await stdout}${await stderr}` };
}

/** Starts a real server, and returns the key that its first start has created. */
async function serve(): Promise<typeof server> {
  const data = await mkdtemp(join(tmpdir(), 'fleetloom-examples-'));
  const {
    ANTHROPIC_API_KEY: _k,
    ANTHROPIC_AUTH_TOKEN: _t,
    ANTHROPIC_BASE_URL: _u,
    NODE_OPTIONS: _o,
    ...rest
  } = process.env;
  const child = spawn(process.execPath, [MAIN, 'serve', '--json', '--port', '0', '--data', data], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: rest,
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { url, key } = JSON.parse(line) as { url: string; key: string };
  return { process: child, data, env: { ...rest, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key } };
}
