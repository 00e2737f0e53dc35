import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { buildProgram } from '../../../../../test/support/build-program.ts';
import { measureHarm } from '../../../../../test/support/measure-harm.ts';
import { repositoryRoot } from '../../../../../test/support/root.ts';
import { baseLimits } from '../limits.ts';
import { createTreeRemover, type TreeRemoverOptions } from './remove-tree.ts';

const isLong = process.env['FLEETLOOM_LONG'] === '1';
const WIDE = isLong ? 1_000_000 : 100_000;
const DEEP = isLong ? 20_000 : 5_000;
const PATIENCE = { timeout: isLong ? 600_000 : 180_000, interval: 20 };
const TEST_MS = PATIENCE.timeout + 60_000;

it(
  `[U185] a directory of ${WIDE} files is removed without a stall, and takes no memory for its width`,
  async () => {
    const { parent, discard, isEmpty, problems } = openBench();
    makeFiles(makeTree(parent, 'sesn_wide'), WIDE);
    const { stallMs, grownMib } = await measureHarm(async () => {
      await discard('sesn_wide');
      await vi.waitFor(() => expect(isEmpty()).toBe(true), PATIENCE);
    });
    // 50 ms are promised. A busy machine may count some of its own.
    expect(stallMs).toBeLessThan(120);
    expect(grownMib).toBeLessThan(64);
    expect(problems).toEqual([]);
    expect([baseLimits.removalOperationsMax, baseLimits.removalEntriesRead, baseLimits.removalRestFactor]).toEqual([
      2, 64, 1,
    ]);
  },
  TEST_MS,
);

it(
  `[U186] directories nested ${DEEP} deep are removed, though no path can name the deepest`,
  async () => {
    const { parent, discard, isEmpty, problems } = openBench();
    nest(makeTree(parent, 'sesn_deep'), DEEP);
    const { stallMs, grownMib } = await measureHarm(async () => {
      await discard('sesn_deep');
      await vi.waitFor(() => expect(isEmpty()).toBe(true), PATIENCE);
    });
    expect([problems, stallMs < 120, grownMib < 64]).toEqual([[], true, true]);
  },
  TEST_MS,
);

it('[U186] more directories side by side than are remembered are removed', async () => {
  const { parent, discard, isEmpty, problems } = openBench();
  const tree = makeTree(parent, 'sesn_many');
  for (let index = 0; index <= baseLimits.removalMovedMax; index++)
    mkdirSync(join(tree, `${index}`, 'a', 'b'), RECURSIVE);
  await discard('sesn_many');
  await vi.waitFor(() => expect(isEmpty()).toBe(true), PATIENCE);
  expect([problems, baseLimits.removalMovedMax]).toEqual([[], 1_000]);
});

it('[U187] names of any bytes, pipes, sockets and closed directories are removed, and links are not followed', async () => {
  const { parent, discard, isEmpty, problems } = openBench();
  const elsewhere = join(parent, 'elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'kept'), 'content');
  const tree = makeTree(parent, 'sesn_odd');
  writeFileSync(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xff, 0xfe])]), '');
  mkdirSync(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xfd])]));
  writeFileSync(join(tree, 'new\nline \u202e'), '');
  symlinkSync(elsewhere, join(tree, 'link'));
  symlinkSync('loop', join(tree, 'loop'));
  mkdirSync(join(tree, 'closed', 'inside'), RECURSIVE);
  symlinkSync(join(elsewhere, 'kept'), join(tree, 'closed', 'inside', 'link'));
  chmodSync(join(tree, 'closed', 'inside'), 0);
  chmodSync(join(tree, 'closed'), 0);
  spawnSync('mkfifo', [join(tree, 'pipe')]);
  const socket = createServer().listen(join(tree, 'socket'));
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  chmodSync(tree, 0);
  await discard('sesn_odd');
  await vi.waitFor(() => expect(isEmpty()).toBe(true), PATIENCE);
  expect(problems).toEqual([]);
  expect(readFileSync(join(elsewhere, 'kept'), 'utf8')).toBe('content');
});

it('[U187] a link in the place of the directory itself is removed, and a missing directory is ignored', async () => {
  const { parent, discard, isEmpty, problems } = openBench();
  mkdirSync(join(parent, 'elsewhere'));
  writeFileSync(join(parent, 'elsewhere', 'kept'), '');
  symlinkSync(join(parent, 'elsewhere'), join(parent, 'sesn_link'));
  await discard('sesn_link');
  await discard('sesn_missing');
  await vi.waitFor(() => expect(isEmpty()).toBe(true), PATIENCE);
  expect([problems, readdirSync(parent), readdirSync(join(parent, 'elsewhere'))]).toEqual([
    [],
    ['elsewhere'],
    ['kept'],
  ]);
});

// Root may remove everything, so the server is another user there.
it.runIf(process.getuid?.() === 0)('[U187] without the rights of root closed directories are removed too', async () => {
  const code = await buildHost();
  const parent = newDirectory();
  const tree = makeTree(parent, 'sesn_closed');
  mkdirSync(join(tree, 'a', 'b', 'c'), RECURSIVE);
  const closed = ['a/b/c', 'a/b', 'a', ''].map((path) => join(tree, path));
  for (const path of [...closed, parent]) chownSync(path, UNPRIVILEGED, UNPRIVILEGED);
  for (const path of closed) chmodSync(path, 0);
  const host = spawn(process.execPath, [code, parent, 'sesn_closed'], {
    uid: UNPRIVILEGED,
    gid: UNPRIVILEGED,
    stdio: 'ignore',
  });
  expect(await once(host, 'exit')).toEqual([0, null]);
  expect(readdirSync(parent)).toEqual([]);
});

it('[U188] a small directory does not wait for a large one: removals take turns of 250 ms', async () => {
  const { parent, discard, problems } = openBench();
  makeFiles(makeTree(parent, 'sesn_large'), 20_000);
  await discard('sesn_large');
  makeFiles(makeTree(parent, 'sesn_small'), 10);
  await discard('sesn_small');
  const trash = join(parent, '.trash');
  const inTrash = (sessionId: string) =>
    existsSync(trash) && readdirSync(trash).some((name) => name.startsWith(sessionId));
  await vi.waitFor(() => expect(inTrash('sesn_small')).toBe(false), PATIENCE);
  expect(inTrash('sesn_large')).toBe(true);
  expect([problems, baseLimits.removalTurnMs]).toEqual([[], 250]);
});

it('[H130] a discarded directory is out of reach at once, also while a process writes to it', async () => {
  const { parent, discard, isEmpty, problems } = openBench();
  const tree = makeTree(parent, 'sesn_1');
  makeFiles(tree, 5_000);
  const writer = spawn('sh', ['-c', 'i=0; while [ $i -lt 300 ]; do i=$((i+1)); : > w$i; mkdir -p d$i/e; done'], {
    cwd: tree,
    stdio: 'ignore',
  });
  const ended = once(writer, 'exit');
  await discard('sesn_1');
  expect([existsSync(tree), readdirSync(parent)]).toEqual([false, ['.trash']]);
  await ended;
  await vi.waitFor(() => expect(isEmpty()).toBe(true), PATIENCE);
  expect(problems).toEqual([]);
});

it('[J408] a directory is discarded while the end of another removal removes the trash directory', async () => {
  const { parent, discard, isEmpty, problems } = openBench();
  for (let at = 0; at < 300; at++) {
    makeTree(parent, `sesn_${at}`);
    await discard(`sesn_${at}`);
    // The removal has ended, and its last step, which removes the trash directory, is under way.
    while (isNotEmpty(join(parent, '.trash'))) await new Promise((next) => setImmediate(next));
  }
  await vi.waitFor(() => expect(isEmpty()).toBe(true), PATIENCE);
  expect(problems).toEqual([]);
});

it('[H131] a stop takes a bounded time and leaves the rest to the next start', async () => {
  const { parent, discard, remover, isEmpty } = openBench({ stopMs: 50 });
  makeFiles(makeTree(parent, 'sesn_1'), 10_000);
  await discard('sesn_1');
  const startedAt = performance.now();
  await remover.close();
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  // Operations that were under way.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const left = countFiles(join(parent, '.trash'));
  expect(left).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(countFiles(join(parent, '.trash'))).toBe(left);
  const next = openBench({}, parent);
  await next.remover.resume(parent);
  await vi.waitFor(() => expect(isEmpty()).toBe(true), PATIENCE);
  expect([next.problems, baseLimits.removalStopMs]).toEqual([[], 3_000]);
});

it('[H131] a stop within the time removes everything', async () => {
  const { parent, discard, remover, isEmpty } = openBench({ stopMs: 60_000 });
  makeFiles(makeTree(parent, 'sesn_1'), 2_000);
  await discard('sesn_1');
  await remover.close();
  expect(isEmpty()).toBe(true);
});

it('[H131] a removal that was killed in the middle is finished at the next start', async () => {
  const code = await buildHost();
  const { parent, remover, isEmpty, problems } = openBench();
  const tree = makeTree(parent, 'sesn_1');
  makeFiles(tree, 20_000);
  nest(tree, 1_000);
  const host = spawn(process.execPath, [code, parent, 'sesn_1'], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(host.stdout, 'data');
  host.kill('SIGKILL');
  await once(host, 'exit');
  expect([existsSync(tree), isEmpty()]).toEqual([false, false]);
  await remover.resume(parent);
  await vi.waitFor(() => expect(isEmpty()).toBe(true), PATIENCE);
  expect(problems).toEqual([]);
});

it('[H132] a file that cannot be removed is reported once with its session, without a path of an agent, and retried', async ({
  skip,
}) => {
  const { parent, discard, isEmpty, problems } = openBench({ retryMs: 200 });
  const tree = makeTree(parent, 'sesn_1');
  const name = 'chosen-by-an-agent\u202e'.repeat(5);
  writeFileSync(join(tree, name), '');
  makeFiles(tree, 100);
  const free = keepFromRemoval(join(tree, name));
  if (free === undefined) return skip('chattr needs root, and a file system that has attributes');
  await discard('sesn_1');
  await vi.waitFor(() => expect(problems).toHaveLength(1), PATIENCE);
  const [problem] = problems as [Error];
  expect(problem).toMatchObject({
    code: 'removal_incomplete',
    message: expect.stringMatching(/session sesn_1 .*\(EPERM\)/),
  });
  expect(`${problem.stack} ${String(problem.cause)}`).not.toMatch(/chosen-by-an-agent|\u202e/);
  expect(countFiles(join(parent, '.trash'))).toBe(1);
  free(join(parent, '.trash'));
  await vi.waitFor(() => expect(isEmpty()).toBe(true), PATIENCE);
  expect(problems).toHaveLength(1);
  expect([baseLimits.removalRetryMs, baseLimits.removalAttemptsMax]).toEqual([60_000, 5]);
});

const RECURSIVE = { recursive: true } as const;
const UNPRIVILEGED = 65534;

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-removal-'));
  // Not with Node's own, which cannot remove what these tests make.
  onTestFinished(() => void spawnSync('rm', ['-rf', directory]));
  return directory;
}

function openBench(options: Partial<TreeRemoverOptions> = {}, parent: string = newDirectory()) {
  const problems: unknown[] = [];
  const remover = createTreeRemover({ onProblem: (problem) => problems.push(problem), ...options });
  onTestFinished(() => remover.close());
  const discard = (sessionId: string) => remover.discard(join(parent, sessionId), { parent, sessionId });
  return { parent, problems, remover, discard, isEmpty: () => !existsSync(join(parent, '.trash')) };
}

function makeTree(parent: string, sessionId: string): string {
  const tree = join(parent, sessionId);
  mkdirSync(tree);
  return tree;
}

/** A thousand names of one file each: a name costs a removal the same, and takes a tenth of the time to make. */
function makeFiles(directory: string, count: number): void {
  for (let index = 0; index < count; index++) {
    const path = join(directory, `f${index}`);
    if (index % 1_000 === 0) closeSync(openSync(path, 'w'));
    else linkSync(join(directory, `f${index - (index % 1_000)}`), path);
  }
}

/** From the inside out: no path of the whole exists that the system would take. */
function nest(directory: string, depth: number): void {
  const [one, other] = [join(directory, 'd'), join(directory, 'outer')];
  mkdirSync(one);
  writeFileSync(join(one, 'secret'), 'at the bottom');
  for (let level = 1; level < depth; level++) {
    mkdirSync(other);
    renameSync(one, join(other, 'd'));
    renameSync(other, one);
  }
}

/** False for a directory that does not exist, also if it is removed in between. */
function isNotEmpty(directory: string): boolean {
  try {
    return readdirSync(directory).length > 0;
  } catch {
    return false;
  }
}

function countFiles(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
}

/** Undefined where the file system or the rights do not allow it. Otherwise what undoes it, wherever the file is then. */
function keepFromRemoval(path: string): ((directory: string) => void) | undefined {
  if (spawnSync('chattr', ['+i', path]).status !== 0) return undefined;
  const free = (directory: string) => void spawnSync('chattr', ['-R', '-i', directory]);
  onTestFinished(() => free(join(path, '..', '..')));
  return free;
}

async function buildHost(): Promise<string> {
  const folder = join(repositoryRoot, '.cache', `remove-tree-${process.pid}-${Math.random()}`);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await buildProgram(folder, { host: fileURLToPath(new URL('./remove-tree-host.suite.ts', import.meta.url)) });
  return join(folder, 'host.mjs');
}
