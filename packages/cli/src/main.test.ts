import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { readRecording, recordingPath } from '../test-support/fixtures.ts';
import { wire } from '../test-support/lines.ts';
import { buildProgram, COMPILED as MAIN } from '../test-support/processes.ts';
import { hasTerminals, inTerminal } from '../test-support/pseudo-terminal.ts';
import { explainLoadFailure } from './base/explain-load-failure.ts';
import { VERSION } from './base/version.ts';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const GOOD = recordingPath('2.1.325/agents-forward');
const ENV = { ...process.env, LANG: 'C.UTF-8', NO_COLOR: '1', FORCE_COLOR: undefined, NODE_OPTIONS: undefined };

function run(args: string[], input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    input,
    encoding: 'utf8',
    env: ENV,
  });
  return { status, stdout, stderr };
}

function exitOf(child: ChildProcess): Promise<number | NodeJS.Signals | null> {
  return new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));
}

beforeAll(buildProgram);

describe('the command line', () => {
  it('[C14] --version is the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as { version: string };
    expect(run(['--version'])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
    expect(VERSION).toBe(version);
  });

  it('[C14] every command has help with examples and its exit codes', () => {
    for (const args of [
      ['--help'],
      ['translate', '--help'],
      ['stats', '--help'],
      ['inspect', '--help'],
      ['demo', '--help'],
    ]) {
      const { status, stdout } = run(args);
      expect(status).toBe(0);
      expect(stdout).toMatch(/Examples:\n {2}\$ /);
      expect(stdout).toMatch(/Exit codes:\n {2}0 {4}/);
      expect(stdout).toContain('130  stopped with Ctrl-C');
    }
  });

  it('[C14] a wrong call suggests the intended command or how to find it, and returns 2', () => {
    expect(run(['tanslate'])).toMatchObject({ status: 2, stderr: expect.stringContaining('Did you mean translate?') });
    expect(run(['stats', '--jsn'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('Did you mean --json?'),
    });
    expect(run(['demo', '--speed', 'fast'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('Pass a number above 0'),
    });
    expect(run(['inspect', 'a', 'b'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('run with --help for usage'),
    });
  });

  it('[C9] a missing file returns 2 with what to pass', () => {
    expect(run(['translate', 'missing.ndjson'])).toEqual({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^fleetloom: There is no file "missing.ndjson".\n {2}Pass the path of a recorded stream, or pipe one in: claude -p "…" --output-format stream-json --verbose \| (npx )?fleetloom translate\n$/,
      ),
    });
  });

  it.skipIf(process.platform === 'win32')(
    '[D30] too few file descriptors to load a command are named, with what to do',
    () => {
      const command = `ulimit -n 60; exec "${process.execPath}" "${MAIN}" serve --open --port 0`;
      const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8', env: ENV });
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toBe(
        'fleetloom: cannot start: this process may open 60 files, and loading takes about 500.\n  Raise the limit and start again, for example with `ulimit -n 4096`.\n',
      );
    },
  );

  it('[D30] a system without free descriptors is named as well, and other errors are unchanged', () => {
    const full = Object.assign(new Error('ENFILE: file table overflow'), { code: 'ENFILE' });
    expect(explainLoadFailure(full)).toContain('the system has no file descriptors left');
    expect(explainLoadFailure(new Error('a defect'))).toBeUndefined();
  });

  it('[C1] piped in and out, it prints events as they are in the file', () => {
    const piped = run(['translate'], readRecording('2.1.325/agents-forward'));
    expect(piped).toMatchObject({ status: 0, stderr: '' });
    expect(run(['translate', GOOD]).stdout).toBe(piped.stdout);
    expect(run(['translate', GOOD, '--tree']).stdout).toContain('├─✓ Search alpha');
  });

  it('[C1] a line is answered before the next one comes', async () => {
    const child = spawn(process.execPath, [MAIN, 'translate', '--json'], { env: ENV });
    child.stdin.write(wire.init());
    const first = await new Promise<Buffer>((resolve) => child.stdout.once('data', resolve));
    expect(JSON.parse(first.toString())).toMatchObject({ type: 'session_meta' });
    child.stdin.end(wire.end());
    expect(await exitOf(child)).toBe(0);
  });

  it('[C3] a reader that goes away ends it quietly', async () => {
    const child = spawn(process.execPath, [MAIN, 'translate', '--json'], { env: ENV });
    let complaint = '';
    child.stderr.on('data', (data) => {
      complaint += String(data);
    });
    child.stdin.on('error', () => {}); // it is gone before it has read all
    child.stdin.write(wire.init());
    child.stdout.once('data', () => {
      child.stdout.destroy();
      for (let index = 0; index < 20; index += 1) child.stdin.write(wire.text('x'.repeat(1_000_000)));
    });
    expect(await exitOf(child)).toBe(0);
    expect(complaint).toBe('');
  });

  it('[C3] a reader that stops causes back-pressure on the writer', async () => {
    const child = spawn(process.execPath, [MAIN, 'translate', '--json'], { env: ENV });
    child.stdin.on('error', () => {});
    let taken = 0;
    // Each write calls back when the pipe has taken it.
    for (let index = 0; index < 300; index += 1) {
      const line = wire.text('x'.repeat(100_000));
      child.stdin.write(line, (error) => (taken += error ? 0 : line.length));
    }
    for (let before = -1; before !== taken || before === 0; ) {
      before = taken;
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    expect(taken).toBeLessThan(5_000_000);
    child.kill('SIGKILL');
    await exitOf(child);
  });

  it('[C8] Ctrl-C returns 130, also while the input is still open', async () => {
    const child = spawn(process.execPath, [MAIN, 'translate', '--tree'], { env: ENV });
    let printed = '';
    child.stdout.on('data', (data) => {
      printed += String(data);
    });
    // The tree is printed at the end only. That the program reads shows in this: it has taken more than a pipe holds. A
    // line that comes again changes nothing.
    const lines = wire.init() + wire.text('Working.').repeat(10_000);
    await new Promise((resolve) => child.stdin.write(lines, resolve));
    child.kill('SIGINT');
    expect(await exitOf(child)).toBe(130);
    expect(printed).toMatch(/… main +unfinished/);
    child.stdin.destroy();
  });

  it('[C17] the modules of a command are loaded when it is called, and no others', () => {
    const loaded = staticImports(MAIN).map((path) => path.slice(join(PACKAGE, 'dist').length + 1));
    // Declarations of commands, and the few constants that their help shows.
    const declarations =
      /^(main|program)\.js$|^(base|commands)\/|^(completion\/scripts|demo-fleet\/tasks|server\/log-forms)\.js$/;
    expect(loaded.filter((path) => !declarations.test(path))).toEqual([]);
    for (const implementation of ['translate', 'stats/stats', 'inspect/inspect']) {
      const needed = staticImports(join(PACKAGE, 'dist', 'stream-json', `${implementation}.js`)).map((path) =>
        readFileSync(path, 'utf8'),
      );
      // Measuring wide characters takes as long to load as all the rest.
      expect(needed.some((source) => /^import .*'string-width'/m.test(source))).toBe(false);
    }
  });
});

describe.skipIf(!hasTerminals)('in a real pseudo-terminal', () => {
  it('[C2] the cursor is hidden while it draws and shown when it is over', async () => {
    const { written, code, terminal } = await inTerminal(['demo', '--speed', '20'], []);
    expect(written).toContain('\u001b[?25l');
    expect([code, terminal.cursorShown, terminal.wraps]).toEqual([0, true, true]);
  });

  it('[C2] Ctrl-C and SIGTERM show it again', async () => {
    for (const [step, code] of [
      [{ after: '\u001b[?25l', keys: '\u0003' }, 130],
      [{ after: '\u001b[?25l', signal: 'SIGTERM' }, 143],
    ] as const) {
      const session = await inTerminal(['demo'], [step]);
      expect([session.code, session.terminal.cursorShown, session.isLineRestored]).toEqual([code, true, true]);
    }
  });
});

/** All files of ours that a file loads without being asked for. */
function staticImports(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/^import (?:[^'()]* from )?'(\..*?)';/gm)) {
    staticImports(join(dirname(file), path as string), seen);
  }
  return [...seen];
}
