import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FleetSessionList } from '@fleetloom/protocol/fleet';
import { openSqliteStore, startServer } from '@fleetloom/server';
import { expect, it } from 'vitest';
import { FakeTerminal } from '../../packages/cli/test-support/fake-terminal.ts';
import { begin, call } from '../../packages/cli/test-support/live-io.ts';
import { DEFAULT_WORKSPACE } from '../../packages/server/src/keys/credential.ts';
import { addManySessions, countManySessions } from '../../packages/server/src/views/sessions/many-sessions.suite.ts';

const COUNT = 10_000;

it('[Y183] the API, `sessions` and `watch` show the same counts of 10,000 sessions', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-many-'));
  const store = await openSqliteStore({ path: join(folder, 'fleetloom.db') });
  await addManySessions(store, { workspaceId: DEFAULT_WORKSPACE, count: COUNT, now: Date.now() });
  await store.close();
  const server = await startServer({ dataDirectory: folder });
  try {
    const expected = countManySessions(COUNT);
    const headers = { 'x-api-key': server.firstKey! };
    const response = await fetch(`${server.url}/v1/fleet/sessions`, { headers });
    const { facets, total } = (await response.json()) as FleetSessionList;
    expect(facets.states).toEqual(expected);
    expect(total).toBe(COUNT - expected['archived']!);
    const labels = ['needs_you', 'stalled', 'failed', 'running', 'done', 'idle', 'archived'];
    const shown = (count: number | undefined) => count!.toLocaleString('en-US');
    const counts = labels.map((state) => `${shown(expected[state])} ${state.replace('_', ' ')}`).join(' · ');
    const env = { FLEETLOOM_URL: server.url, FLEETLOOM_KEY: server.firstKey! };
    const { stdout, stderr } = await call(['sessions'], { env });
    expect(stdout.trimEnd().split('\n')).toHaveLength(51);
    expect(stderr).toBe(`50 of ${shown(total)} sessions · all: ${counts}\n`);
    for (const state of labels) {
      const listed = await call(['sessions', '--status', state, '--limit', '1'], { env });
      expect(listed.stderr).toContain(`1 of ${shown(expected[state])} sessions`);
    }
    const terminal = new FakeTerminal(160, 30);
    const { fake, ended } = begin(['watch'], { terminal, env });
    await expect.poll(() => terminal.screen[0]).toContain(`fleetloom · ${shown(total)} sessions  ${counts}`);
    fake.type('q');
    expect(await ended).toBe(0);
  } finally {
    await server.close();
    rmSync(folder, { recursive: true });
  }
}, 120_000);
