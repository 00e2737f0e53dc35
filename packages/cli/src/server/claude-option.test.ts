import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// Loaded now, so that no time of a test goes into it.
import { checkToolPrograms } from '@fleetloom/server';
import { expect, it, onTestFinished } from 'vitest';
import { repositoryRoot } from '../../../../test/support/root.ts';
import { begin, call } from '../../test-support/live-io.ts';
import type { Finding } from '../doctor/finding.ts';

it('[J136] --claude selects the program of sessions', async () => {
  const data = await temporaryFolder();
  // Prints lines as the real program does, as many as requested.
  const program = join(repositoryRoot, 'bench', 'claude-code-program.mjs');
  const args = [
    'serve',
    '--port',
    '0',
    '--open',
    '--json',
    '--data',
    data,
    '--claude',
    program,
    '--programs',
    'default',
    ...((await checkToolPrograms()).sandboxProblem === null ? [] : ['--unsandboxed-programs']),
  ];
  const { fake, ended } = begin(args);
  await expect.poll(() => fake.stdout.text, { timeout: 60_000 }).toContain('"url"');
  const { url } = JSON.parse(fake.stdout.text) as { url: string };
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await response.json()) as { id: string };
  };
  const environment = await post('/v1/environments', { name: 'here' });
  const agent = await post('/v1/agents', { name: 'it', model: 'claude-code/default' });
  const session = await post('/v1/sessions', { agent: agent.id, environment_id: environment.id });
  const text = JSON.stringify({ lines: 3, chars: 5, everyMs: 1 });
  const content = [{ type: 'text', text }];
  await post(`/v1/sessions/${session.id}/events`, { events: [{ type: 'user.message', content }] });
  const said = async () => {
    const response = await fetch(`${url}/v1/sessions/${session.id}/events?limit=100`);
    const { data: events } = (await response.json()) as { data: { type: string }[] };
    return events.filter(({ type }) => type === 'agent.message').length;
  };
  await expect.poll(said, { timeout: 60_000 }).toBe(3);
  fake.send('SIGINT');
  expect(await ended).toBe(0);
}, 180_000);

it('[J136] the doctor looks at that one', async () => {
  const folder = await temporaryFolder();
  const program = join(folder, 'claude');
  await writeFile(program, '#!/bin/sh\necho "2.1.197 (Claude Code)"\n');
  const look = async (env: Record<string, string>) => {
    const url = ['--url', 'http://127.0.0.1:1', '--data', folder];
    const passed = ['--program-env', 'CLAUDE_CODE_USE_VERTEX'];
    const { code, stdout } = await call(['doctor', '--json', ...url, '--claude', program, ...passed], { env });
    const findings = stdout.trim().split('\n');
    const all = findings.map((line) => JSON.parse(line) as Finding).filter(({ name }) => name === 'Claude Code');
    return { code, all };
  };
  const blocked = await look({});
  expect([blocked.code, blocked.all.map(({ state }) => state)]).toEqual([1, ['problem']]);
  await chmod(program, 0o755);
  const old = await look({ CLAUDE_CODE_USE_VERTEX: '1', PATH: process.env['PATH'] ?? '' });
  expect([old.code, old.all.map(({ state }) => state)]).toEqual([0, ['ok', 'ok', 'note', 'note']]);
  expect(old.all[0]?.text).toContain(`2.1.197 (${program})`);
  expect(old.all[3]?.text).toContain('Vertex AI');
});

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fleetloom-claude-option-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
