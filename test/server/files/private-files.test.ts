import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { toFile } from '@anthropic-ai/sdk';
import { expect, it, onTestFinished } from 'vitest';
import { connect, toScript } from '../server.suite.ts';
import { startServer } from '../../../packages/server/src/server.ts';

it('[H110] every file and directory a server makes is its owner’s alone, whatever the umask, in a directory that was there', async () => {
  const umask = process.umask(0);
  onTestFinished(() => void process.umask(umask));
  const directory = newDirectory(0o777);
  await useServer(directory);
  expect(openTo(directory)).toEqual([]);
});

it('[H111] permissive files of an older version are closed at the next start', async () => {
  const directory = newDirectory(0o700);
  await useServer(directory);
  chmodSync(directory, 0o755);
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    chmodSync(path, lstatSync(path).isDirectory() ? 0o755 : 0o644);
  }
  expect(openTo(directory).length).toBeGreaterThan(4);
  await useServer(directory);
  expect(openTo(directory)).toEqual([]);
});

it('[H111] a directory with files of other programs keeps its mode and theirs, and our files are private anyway', async () => {
  const directory = newDirectory(0o755);
  writeFileSync(join(directory, 'notes.txt'), 'mine', { mode: 0o644 });
  await useServer(directory);
  expect(openTo(directory)).toEqual(['', 'notes.txt']);
  chmodSync(directory, 0o757);
  await expect(startServer({ dataDirectory: directory })).rejects.toThrow(
    `every user can write to the data directory ${directory} (mode 0757): choose a directory of its own, or run`,
  );
});

it.skipIf(process.getuid?.() !== 0)(
  '[H111] a file of another user that others can read is refused by its name, and not changed',
  async () => {
    const directory = newDirectory(0o700);
    const file = join(directory, 'fleetloom.db');
    writeFileSync(file, '', { mode: 0o644 });
    chownSync(file, 4_711, 4_711);
    await expect(startServer({ dataDirectory: directory })).rejects.toThrow(
      `${file} belongs to user 4711 and has mode 0644, so others can read it: run`,
    );
    expect(lstatSync(file).mode & 0o777).toBe(0o644);
  },
);

function newDirectory(mode: number): string {
  const root = mkdtempSync(join(tmpdir(), 'fleetloom-private-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const directory = join(root, 'data');
  mkdirSync(directory);
  chmodSync(directory, mode);
  return directory;
}

/** Makes it write everything that it keeps. */
async function useServer(dataDirectory: string): Promise<void> {
  const server = await startServer({ dataDirectory, webhooks: { urls: ['http://127.0.0.1:9/'] }, onProblem: () => {} });
  try {
    const client = connect(server.url, server.firstKey ?? 'any');
    if (server.firstKey === undefined) return;
    const file = await client.beta.files.upload({ file: await toFile(Buffer.from('x'), 'a.txt') });
    const system = toScript([[{ type: 'text', text: 'done' }]]);
    const agent = await client.beta.agents.create({ name: 'a', model: 'scripted/any', system });
    const environment = await client.beta.environments.create({ name: 'e' });
    await client.beta.sessions.create({
      agent: agent.id,
      environment_id: environment.id,
      resources: [{ type: 'file', file_id: file.id }],
    });
    expect(readdirSync(dataDirectory)).toEqual(
      expect.arrayContaining(['fleetloom.db-wal', 'files', 'keys', 'resources', 'signing-key', 'webhook-key']),
    );
    // While it runs, too.
    expect(openTo(join(dataDirectory, 'fleetloom.db-wal'))).toEqual([]);
  } finally {
    await server.close();
  }
}

/** What others could read or enter, by its path. What agents find in a workspace is behind the directory of the workspace. */
function openTo(root: string): string[] {
  const open: string[] = [];
  const look = (path: string) => {
    const stats = lstatSync(path);
    if ((stats.mode & 0o077) !== 0) open.push(relative(root, path));
    if (!stats.isDirectory() || /workspaces\/sesn_\w+$/.test(path)) return;
    for (const name of readdirSync(path)) look(join(path, name));
  };
  look(root);
  return open;
}
