import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FleetloomServer, startServer } from '@fleetloom/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from '../../test-support/live-io.ts';

const root = mkdtempSync(join(tmpdir(), 'fleetloom-agents-'));
let server: FleetloomServer;
beforeAll(async () => {
  server = await startServer({ dataDirectory: join(root, 'data') });
  const directory = join(root, 'mine');
  mkdirSync(directory);
  writeFileSync(
    join(directory, 'lead.md'),
    '---\nname: lead\ndescription: Leads\nmodel: scripted/research\nagents: [worker, odd name]\ntools: Read\n---\nYou lead.\n',
  );
  writeFileSync(
    join(directory, 'worker.md'),
    '---\nname: worker\nmodel: scripted/worker\ntools: Read, Bash(git *)\n---\nWork.\n',
  );
  writeFileSync(join(directory, 'odd.yaml'), 'name: odd name\nmodel: scripted/echo\nmetadata: { team: docs }\n');
});
afterAll(async () => {
  await server.close();
  rmSync(root, { recursive: true, force: true });
});

const agents = (...args: string[]) => call(['agents', ...args, '--url', server.url, '--key', server.firstKey!]);

/** Names and versions. */
async function versions(): Promise<Record<string, number>> {
  const { stdout } = await agents('list', '--json');
  const all = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string; version: number });
  return Object.fromEntries(all.map(({ name, version }) => [name, version]));
}

describe('fleetloom agents', () => {
  it('[Y78] apply makes them, list shows them, and what export writes applies without a change', async () => {
    expect((await agents('list')).stderr).toContain('There are no agents');
    expect((await agents('apply', join(root, 'mine'))).code).toBe(0);
    expect((await agents('list')).stdout).toMatch(/^agent_\S+ +lead +1 +scripted\/research +Leads/m);
    expect(await versions()).toEqual({ lead: 1, worker: 1, 'odd name': 1 });

    const copy = join(root, 'copy');
    expect(await agents('export', copy)).toMatchObject({ code: 0 });
    expect(readdirSync(copy).sort()).toEqual(['lead.yaml', 'odd-name.yaml', 'worker.yaml']);
    expect(readFileSync(join(copy, 'lead.yaml'), 'utf8')).toContain('agents:\n  - worker\n  - odd name\n');
    expect((await agents('apply', copy)).code).toBe(0);
    expect(await versions()).toEqual({ lead: 1, worker: 1, 'odd name': 1 });

    writeFileSync(join(copy, 'worker.yaml'), 'name: worker\nmodel: scripted/worker\nsystem: Work harder.\n');
    expect((await agents('apply', copy)).code).toBe(0);
    expect((await versions())['worker']).toBe(2);
  });

  it('[Y79] show finds one by name or id, as a definition or as the API has it', async () => {
    const { stdout } = await agents('show', 'odd name', '--json');
    const { id } = JSON.parse(stdout) as { id: string };
    const text = (await agents('show', id)).stdout;
    expect(text).toContain('name: odd name\n');
    expect(text).toContain('metadata:\n  team: docs\n');
    expect(await agents('show', 'missing')).toMatchObject({ code: 4, stderr: expect.stringContaining('agents list') });
    expect(await agents('export', join(root, 'one'), 'missing')).toMatchObject({ code: 4 });
    expect((await agents('export', join(root, 'one'), 'worker')).code).toBe(0);
    expect(readdirSync(join(root, 'one'))).toEqual(['worker.yaml']);
  });
});
