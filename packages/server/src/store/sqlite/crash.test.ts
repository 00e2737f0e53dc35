import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isLong, randomText } from '../../../../../test/support/seed.ts';
import { buildProgram } from '../../../../../test/support/build-program.ts';
import { repositoryRoot } from '../../../../../test/support/root.ts';
import type { Store } from '../store.ts';
import { Database } from './database.ts';
import { createSqliteStore } from './sqlite-store.ts';

const KILLS = isLong ? 400 : 8;
const SESSIONS = 3;

// Within the repository, because what is not bundled is found from there.
const codeFolder = join(repositoryRoot, '.cache', `store-crash-${process.pid}`);
const dataFolder = mkdtempSync(join(tmpdir(), 'fleetloom-crash-'));
afterAll(() => [codeFolder, dataFolder].forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** Appends as fast as it can, and says what was acknowledged only after it was. */
const writer = `
import { writeSync } from 'node:fs';
import { openSqliteStore } from './sqlite-store.mjs';
import { createLog } from './log.mjs';

const store = await openSqliteStore({ path: process.argv[2] });
const log = createLog({ store });
await Promise.all(Array.from({ length: ${SESSIONS} }, (_, index) => work('sesn_' + index, index + 1)));

async function work(sessionId, size) {
  const session = { workspaceId: 'w1', id: sessionId, agentId: 'a', agentVersion: 1, environmentId: 'e', status: 'idle', createdAt: 1, data: { marks: 0 } };
  if (await store.sessions.get('w1', sessionId) === undefined) await log.append({ type: 'create', session, frames: [], changes: [] });
  const { fence, head } = await store.leases.acquire({ sessionId, owner: String(process.pid), ttlMs: 60000 });
  let seq = head;
  let { marks } = (await store.sessions.get('w1', sessionId)).data;
  for (let round = 0; ; round++) {
    const isMark = round % 3 === 0;
    const texts = Array.from({ length: 1 + ((round * 7 + size) % 9) }, () => 'x'.repeat((round * 131) % 700));
    const frames = texts.map((text, at) => ({ threadId: null, turn: null, time: fence, type: isMark && at === 0 ? 'mark' : 'delta', payload: { n: ++seq, text } }));
    const changes = isMark ? [{ type: 'update_session', updatedAt: seq, patch: { data: { marks: ++marks } } }] : [];
    const { lastSeq } = await log.append({ type: 'append', sessionId, fence, frames, changes });
    writeSync(1, sessionId + ' ' + lastSeq + '\\n');
  }
}
`;

beforeAll(async () => {
  await buildProgram(
    codeFolder,
    ['store/sqlite/sqlite-store.ts', 'log/log.ts'].map((file) => join(import.meta.dirname, '..', '..', file)),
  );
  writeFileSync(join(codeFolder, 'writer.mjs'), writer);
});

it(
  '[T25] a process killed at any moment loses nothing that was acknowledged, and leaves no gap, no repeat, no half write',
  async () => {
    const path = join(dataFolder, 'crash.db');
    const random = randomText();
    const acknowledged = new Map<string, number>();
    for (let kill = 0; kill < KILLS; kill++) {
      for (const [sessionId, seq] of await runUntilKilled(path, 1 + random.below(60))) acknowledged.set(sessionId, seq);
      const database = await Database.open(path);
      expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
      const store = createSqliteStore(database);
      for (const [sessionId, seq] of acknowledged) await checkSession(store, sessionId, seq);
      await store.close();
    }
    expect(acknowledged.size).toBe(SESSIONS);
  },
  isLong ? 600_000 : 120_000,
);

async function checkSession(store: Store, sessionId: string, acknowledged: number): Promise<void> {
  const entries = await store.read({ sessionId, after: 0, entriesMax: Infinity, bytesMax: Infinity });
  const wrong = entries.filter((entry, index) => {
    return entry.kind !== 'frame' || entry.seq !== index + 1 || entry.value.payload['n'] !== index + 1;
  });
  expect(wrong).toEqual([]);
  expect(entries.length).toBeGreaterThanOrEqual(acknowledged);
  const marks = entries.filter((entry) => entry.kind === 'frame' && entry.value.type === 'mark').length;
  expect((await store.sessions.get('w1', sessionId))?.data).toEqual({ marks });
}

/** Starts the writer and kills it so many milliseconds after its first acknowledgement. Gives back the last ones. */
async function runUntilKilled(path: string, delayMs: number): Promise<Map<string, number>> {
  const child = spawn(process.execPath, [join(codeFolder, 'writer.mjs'), path], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (output === '') setTimeout(() => child.kill('SIGKILL'), delayMs);
    output += text;
  });
  const signal = await new Promise((resolve) => child.on('close', (_, by) => resolve(by)));
  expect([signal, complaints.replace(/.*ExperimentalWarning[^]*/, '')]).toEqual(['SIGKILL', '']);
  // The last line may be cut.
  const lines = output.split('\n').slice(0, -1);
  return new Map(lines.map((line) => [line.split(' ')[0]!, Number(line.split(' ')[1])]));
}
