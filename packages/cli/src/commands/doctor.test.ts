import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startServer } from '@fleetloom/server';
import { call } from '../../test-support/live-io.ts';
import type { Finding } from '../doctor/finding.ts';

const root = mkdtempSync(join(tmpdir(), 'fleetloom-doctor-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** An address at which nobody is: the port is taken by nobody, because it cannot be listened to without being root. */
const NOBODY = 'http://127.0.0.1:1';

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
    const { code, of } = await diagnose(['--data', data, '--url', NOBODY]);
    expect(code).toBe(0);
    expect(of('Node')).toMatchObject({ state: 'ok', text: process.versions.node });
    expect(of('Data')).toMatchObject({ state: 'ok', text: `${data} will be made` });
    expect(of('Server')).toMatchObject({ state: 'note', fix: expect.stringContaining('fleetloom') });
    expect(of('Models')).toMatchObject({ state: 'note', fix: expect.stringContaining('ANTHROPIC_API_KEY') });
    expect(of('Sandbox')?.text).toMatch(/bash/);
    expect(of('Search')?.text).toMatch(/ripgrep/);
  });

  it('[Y76] what does not work is a problem, and the exit code says so', async () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    const bad = await diagnose(['--data', file, '--url', NOBODY]);
    expect(bad.code).toBe(1);
    expect(bad.of('Data')).toMatchObject({ state: 'problem', text: `${file} is no directory` });
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

  it('[Y76] for people each finding is a line, and what to do stands below it', async () => {
    const { stdout } = await call(['doctor', '--data', join(root, 'x'), '--url', NOBODY]);
    expect(stdout).toMatch(/^\S Node {9}\d+\.\d+/m);
    expect(stdout).toMatch(/^\S Models .*\n {15}Set ANTHROPIC_API_KEY/m);
  });
});
