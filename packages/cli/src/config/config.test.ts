import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { afterAll, describe, expect, it } from 'vitest';
import { call } from '../../test-support/live-io.ts';
import { applyConfig } from './apply-config.ts';
import { readConfig } from './read-config.ts';

const root = mkdtempSync(join(tmpdir(), 'fleetloom-config-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
function write(text: string): string {
  const file = join(root, `${(count += 1)}.yaml`);
  writeFileSync(file, text);
  return file;
}

/** What a command with some options gets to know. */
function options(text: string, args: string[] = [], env: Record<string, string> = {}): Record<string, unknown> {
  const program = new Command('fleetloom');
  const serve = program
    .command('serve')
    .option('--port <number>', '', Number)
    .option('--open')
    .option('--host <address>')
    .option('--webhook <url...>')
    .addOption(new Option('--level <level...>').choices(['a', 'b']));
  program.command('watch').option('--url <url>');
  serve.action(() => {});
  program.hook('preAction', (_, command) => applyConfig(env, command, readConfig({ FLEETLOOM_CONFIG: write(text) })!));
  program.parse(['serve', ...args], { from: 'user' });
  return serve.opts();
}

describe('the configuration', () => {
  it('[Y77] gives values to options; entries below a command apply to that command', () => {
    expect(options('port: 4300\nopen: true\nurl: http://x')).toEqual({ port: 4300, open: true });
    expect(options('{"port": 4300, "serve": {"port": 4301}, "watch": {"url": "http://x"}}')).toEqual({ port: 4301 });
    expect(options('')).toEqual({});
  });

  it('[Y77] an option that takes several values gets a list, of one value too', () => {
    expect(options('webhook: http://x')).toEqual({ webhook: ['http://x'] });
    expect(options('webhook: [http://x, http://y]\nlevel: [a, b]')).toEqual({
      webhook: ['http://x', 'http://y'],
      level: ['a', 'b'],
    });
    expect(options('webhook: http://x', ['--webhook', 'http://y'])).toEqual({ webhook: ['http://y'] });
    expect(() => options('webhook: [{}]')).toThrow('"webhook" in');
    expect(() => options('level: [a, c]')).toThrow('Allowed choices are a, b');
    expect(() => options('host: [a]')).toThrow('"host" in');
  });

  it('[Y77] options win over environment variables, and those over the file', () => {
    expect(options('port: 1\nhost: a', ['--port', '2'])).toEqual({ port: 2, host: 'a' });
    expect(options('port: 1\nhost: a', [], { PORT: '3' })).toEqual({ host: 'a' });
    expect(options('port: 1', [], { PORT: '' })).toEqual({ port: 1 });
  });

  it('[Y77] an unknown or invalid field is a usage error that names it', async () => {
    for (const [text, problem] of [
      ['prot: 1', 'Unknown option "prot" in '],
      ['serve: { prot: 1 }', 'Unknown option "serve.prot" in '],
      ['port: x', '"port" in'],
      ['open: maybe', '"open" in'],
      ['- port', 'is not a list of options'],
      ['a: [', 'cannot be read'],
    ]) {
      const env = { FLEETLOOM_CONFIG: write(text!) };
      expect(await call(['serve'], { env })).toMatchObject({ code: 2, stderr: expect.stringContaining(problem!) });
    }
    const env = { FLEETLOOM_CONFIG: join(root, 'missing.yaml') };
    expect(await call(['serve'], { env })).toMatchObject({ code: 2, stderr: expect.stringContaining('missing.yaml') });
  });

  it('[Y77] it is found where programs of a user have theirs', () => {
    const home = join(root, 'home');
    mkdirSync(join(home, 'fleetloom'), { recursive: true });
    expect(readConfig({ XDG_CONFIG_HOME: home })).toBeUndefined();
    writeFileSync(join(home, 'fleetloom', 'config.json'), '{"port": 1}');
    expect(readConfig({ XDG_CONFIG_HOME: home })).toMatchObject({ values: { port: 1 } });
  });
});
