import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { isLong } from '../../../../../test/support/seed.ts';
import { RequestError } from '../../base/request-error.ts';
import { createGit } from '../git/run-git.ts';
import { recordDirectory } from '../snapshots/record-directory.ts';
import { SnapshotRepository } from '../snapshots/objects/snapshot-repository.ts';
import { applyToDirectory } from './apply-to-directory.ts';
import { selectChanges } from './select-changes.ts';

/** A file as a test sees it: `mode content`, so that any difference shows. */
type Files = Readonly<Record<string, string>>;

it('[WS130] property: after an application exactly the chosen changes are there, a conflict changes nothing, and a second one is a no-op', async () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  const random = createRandom(seed);
  const counts = { applied: 0, conflicts: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    await withDirectories(async ({ repository, base, theirs, ours }) => {
      const start = randomFiles(random);
      const [changed, edited] = [mutate(start, random), mutate(start, random)];
      await Promise.all([writeAll(base, start), writeAll(theirs, changed), writeAll(ours, edited)]);
      const trees = { base: await recordDirectory(repository, base), tree: await recordDirectory(repository, theirs) };
      const all = Object.keys({ ...start, ...changed }).filter((path) => start[path] !== changed[path]);
      const chosen = random() < 0.5 ? undefined : all.filter(() => random() < 0.6);
      const paths = chosen === undefined || chosen.length === 0 ? undefined : chosen;
      const selected = await selectChanges(repository, trees, paths).catch((error: unknown) => {
        expect(error, `SEED=${seed} round ${round}`).toMatchObject({
          code: 'invalid_request',
          message: expect.stringContaining('removal of'),
        });
      });
      if (selected === undefined) return;
      const target = { repository, directory: ours, isDryRun: false };
      const before = readAll(ours);
      const context = `SEED=${seed} round ${round}`;
      const isWanted = (path: string) => paths?.some((one) => path === one || isInside(path, one)) ?? true;
      const wanted = all.filter(isWanted);
      try {
        await applyToDirectory({ ...target, isDryRun: true }, selected);
        expect(readAll(ours), `${context}: a dry run`).toEqual(before);
        await applyToDirectory(target, selected);
        counts.applied++;
      } catch (error) {
        expect(error, context).toBeInstanceOf(RequestError);
        expect((error as RequestError).code, context).toBe('apply_conflict');
        expect(readAll(ours), `${context}: a conflict`).toEqual(before);
        counts.conflicts++;
        // There is a reason: the user changed one of these files, or has something else at its path.
        const isOwn = (path: string) => edited[path] !== start[path] || isBlocked(path, edited, start);
        expect(wanted.some(isOwn), context).toBe(true);
        return;
      }
      const after = readAll(ours);
      for (const path of new Set([...Object.keys(before), ...Object.keys(after), ...wanted])) {
        const isChosen = wanted.includes(path);
        // Whole files: the content that both sides changed is merged line by line, which another test pins.
        if (isChosen && edited[path] === start[path]) expect(after[path], `${context}: ${path}`).toBe(changed[path]);
        if (!isChosen) expect(after[path], `${context}: ${path}`).toBe(before[path]);
      }
      expect(await applyToDirectory(target, selected), `${context}: twice`).toEqual([]);
      expect(readAll(ours), `${context}: twice`).toEqual(after);
    });
  }
  expect(Math.min(counts.applied, counts.conflicts), `SEED=${seed}`).toBeGreaterThan(ROUNDS / 20);
}, 120_000);

it('[WS408] an application brings no .git of an agent, and writes nothing to a bare repository of the user', () =>
  withDirectories(async ({ repository, base, theirs, ours }) => {
    const bare: Files = { 'bare/HEAD': 'f ref', 'bare/objects/a': 'f a', 'bare/refs/a': 'f a' };
    const own: Files = { 'own/.git/hooks/pre-commit': 'x evil', 'own/.GIT/config': 'f evil', 'own/file': 'f mine' };
    const evil: Files = { ...bare, ...own, 'bare/hooks/post-update': 'x evil' };
    await Promise.all([writeAll(base, bare), writeAll(theirs, evil), writeAll(ours, bare)]);
    const trees = { base: await recordDirectory(repository, base), tree: await recordDirectory(repository, theirs) };
    const target = { repository, directory: ours, isDryRun: false };
    await expect(applyToDirectory(target, await selectChanges(repository, trees, undefined))).rejects.toThrow(
      /bare\/hooks\/post-update is in a git directory/,
    );
    expect(readAll(ours)).toEqual(bare);
    await applyToDirectory(target, await selectChanges(repository, trees, ['own']));
    expect(readAll(ours)).toEqual({ ...bare, 'own/file': 'f mine' });
  }));

it('[WS131] a file that cannot be written fails the application, and the files before it become what they were', async () => {
  await withDirectories(async ({ repository, base, theirs, ours }) => {
    const start = { 'a.txt': 'f a\n', 'gone.txt': 'f gone\n', 'z.txt': 'f z\n' };
    await Promise.all([writeAll(base, start), writeAll(ours, start)]);
    await writeAll(theirs, { 'a.txt': 'x changed\n', 'new/b.txt': 'f b\n', 'z.txt': 'f changed\n' });
    const trees = { base: await recordDirectory(repository, base), tree: await recordDirectory(repository, theirs) };
    const selected = await selectChanges(repository, trees, undefined);
    const before = readAll(ours);
    let reads = 0;
    // The disk fails after the first files were written: the last object cannot be read.
    const last = selected.files.at(-1)!.after!.object;
    const wrapped = withRead(repository, async (names) => {
      const found = await repository.read(names);
      const isFailing = names.includes(last) && ++reads === 1;
      return isFailing ? found.map((object, at) => (names[at] === last ? undefined : object)) : found;
    });
    await expect(
      applyToDirectory({ repository: wrapped, directory: ours, isDryRun: false }, selected),
    ).rejects.toMatchObject({
      code: 'not_applicable',
      message: expect.stringContaining('and its files are as they were'),
    });
    expect(reads).toBeGreaterThan(0);
    expect(readAll(ours)).toEqual(before);
  });
});

const ROUNDS = isLong ? 600 : 10;

/** The same repository with another `read`. A class with private fields needs its own methods called on itself. */
function withRead(repository: SnapshotRepository, read: SnapshotRepository['read']): SnapshotRepository {
  return new Proxy(repository, {
    get: (target, name) => {
      if (name === 'read') return read;
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

interface Directories {
  readonly repository: SnapshotRepository;
  readonly base: string;
  readonly theirs: string;
  readonly ours: string;
}

async function withDirectories(run: (directories: Directories) => Promise<void>): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'fleetloom-apply-'));
  try {
    const git = createGit('git');
    const repository = await SnapshotRepository.create(git, join(root, 'snapshots'), {
      format: 'sha1',
      alternates: [],
    });
    await writeFile(repository.file('info', 'exclude-rules'), '');
    const [base, theirs, ours] = await Promise.all(
      ['base', 'theirs', 'ours'].map(async (name) => {
        await mkdir(join(root, name));
        return join(root, name);
      }),
    );
    await run({ repository, base: base!, theirs: theirs!, ours: ours! });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

const NAMES = ['a', 'b', 'c', 'd/x', 'd/y', 'd/e/z', 'f g', 'ü'];
const pick = <Item>(items: readonly Item[], random: () => number): Item => items[Math.floor(random() * items.length)]!;

/** `f`: a file, `x`: an executable file, `l`: a link. */
function randomFile(random: () => number): string {
  const kind = pick(['f', 'f', 'f', 'x', 'l'], random);
  const lines = Array.from({ length: 1 + Math.floor(random() * 6) }, () => `${Math.floor(random() * 5)}`);
  return kind === 'l' ? `l ${lines.join('')}` : `${kind} ${lines.join('\n')}\n`;
}

function randomFiles(random: () => number): Files {
  return Object.fromEntries(NAMES.filter(() => random() < 0.7).map((name) => [name, randomFile(random)]));
}

function mutate(files: Files, random: () => number): Files {
  const next: Record<string, string> = { ...files };
  for (let count = 0; count < 3; count++) {
    const name = pick([...NAMES, 'd', 'a/b'], random);
    if (random() < 0.3) delete next[name];
    else {
      for (const other of Object.keys(next)) if (isInside(other, name) || isInside(name, other)) delete next[other];
      next[name] = randomFile(random);
    }
  }
  return next;
}

function isInside(path: string, directory: string): boolean {
  return path.startsWith(`${directory}/`);
}

/** Whether the user has a file where a directory is needed, or a directory at the path. */
function isBlocked(path: string, edited: Files, start: Files): boolean {
  return Object.keys(edited).some(
    (other) => (isInside(path, other) || isInside(other, path)) && edited[other] !== start[other],
  );
}

async function writeAll(directory: string, files: Files): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory);
  for (const [name, file] of Object.entries(files)) {
    const path = join(directory, name);
    const [kind, content] = [file[0], file.slice(2)];
    await mkdir(dirname(path), { recursive: true });
    if (kind === 'l') await symlink(content, path);
    else await writeFile(path, content);
    if (kind === 'x') await chmod(path, 0o755);
  }
}

function readAll(directory: string, inside = ''): Record<string, string> {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(join(directory, inside))) {
    const path = inside === '' ? entry : `${inside}/${entry}`;
    const stats = lstatSync(join(directory, path));
    if (stats.isDirectory()) Object.assign(files, readAll(directory, path));
    else if (stats.isSymbolicLink()) files[path] = `l ${readlinkSync(join(directory, path))}`;
    else files[path] = `${(stats.mode & 0o100) === 0 ? 'f' : 'x'} ${readFileSync(join(directory, path), 'utf8')}`;
  }
  return files;
}
