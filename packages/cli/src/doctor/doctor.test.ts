import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startServer } from '@fleetloom/server';
import { call } from '../../test-support/live-io.ts';
import type { Finding } from './finding.ts';

const root = mkdtempSync(join(tmpdir(), 'fleetloom-doctor-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A URL without a server: only root can listen on this port. */
const NO_SERVER = 'http://127.0.0.1:1';

async function diagnose(args: string[], env: Record<string, string> = {}) {
  const { code, stdout } = await call(['doctor', '--json', ...args], { env });
  const findings = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Finding);
  return { code, of: (name: string) => findings.find((finding) => finding.name === name) };
}

describe('fleetloom doctor', () => {
  it('[Y76] a machine on which nothing is set up yet has no problem, only notes with what to do', async () => {
    const data = join(root, 'deep', 'down');
    const { code, of } = await diagnose(['--data', data, '--url', NO_SERVER]);
    expect(code).toBe(0);
    expect(of('Node')).toMatchObject({ state: 'ok', text: process.versions.node });
    expect(of('Data')).toMatchObject({ state: 'ok', text: `${data} (will be created)` });
    expect(of('Server')).toMatchObject({ state: 'note', fix: expect.stringContaining('fleetloom') });
    expect(of('Models')).toMatchObject({ state: 'note', fix: expect.stringContaining('ANTHROPIC_API_KEY') });
    expect(of('Sandbox')?.text).toMatch(/bash/);
    expect(of('Search')?.text).toMatch(/ripgrep/);
  });

  it('[Y76] a failed check is a problem, and sets the exit code', async () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    const bad = await diagnose(['--data', file, '--url', NO_SERVER]);
    expect(bad.code).toBe(1);
    expect(bad.of('Data')).toMatchObject({ state: 'problem', text: `${file} is not a directory` });
  });

  it('[Y76] a server is asked with the key, and a key for models is never shown', async () => {
    const server = await startServer({ dataDirectory: join(root, 'server') });
    try {
      const env = { ANTHROPIC_API_KEY: 'sk-secret', FLEETLOOM_DATA: join(root, 'none') };
      const right = await diagnose(['--url', server.url, '--key', server.firstKey!], env);
      expect(right.of('Server')).toMatchObject({ state: 'ok' });
      expect(right.of('Models')).toMatchObject({ state: 'ok' });
      expect(JSON.stringify(right.of('Models'))).not.toContain('secret');
      const wrong = await diagnose(['--url', server.url, '--key', 'wrong'], env);
      expect(wrong.code).toBe(1);
      expect(wrong.of('Server')).toMatchObject({ state: 'problem' });
    } finally {
      await server.close();
    }
  });

  it('[Y76] the text output has one line per finding, with what to do below it', async () => {
    const { stdout } = await call(['doctor', '--data', join(root, 'x'), '--url', NO_SERVER]);
    expect(stdout).toMatch(/^\S Node {9}\d+\.\d+/m);
    expect(stdout).toMatch(/^\S Models .*\n {15}Set ANTHROPIC_API_KEY/m);
  });
});
