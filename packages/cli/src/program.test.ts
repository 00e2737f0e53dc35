import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { FakeIo } from '../test-support/fake-io.ts';
import { call, toLiveIo } from '../test-support/live-io.ts';
import { buildProgram, COMPILED } from '../test-support/processes.ts';
import { exitCode } from './base/exit-code.ts';
import { createProgram } from './program.ts';

/** The file that each command loads when it is called. */
const IMPLEMENTATIONS = {
  run: 'run/run.js',
  watch: 'watch/watch.js',
  send: 'sessions/send.js',
  approve: 'sessions/approve.js',
  deny: 'sessions/approve.js',
  cancel: 'sessions/cancel.js',
  sessions: 'sessions/list-sessions.js',
  threads: 'watch/list-threads.js',
  export: 'export/export-session.js',
};
const COMMANDS = Object.keys(IMPLEMENTATIONS) as (keyof typeof IMPLEMENTATIONS)[];

beforeAll(buildProgram);

describe('the commands that talk to a server', () => {
  it('[Y2] each has help with examples, and the one table of exit codes', async () => {
    for (const command of COMMANDS) {
      const { code, stdout } = await call([command, '--help']);
      expect([command, code]).toEqual([command, 0]);
      expect(stdout).toMatch(/Examples:\n {2}\$ /);
      expect(stdout).toContain('--url <url>');
      expect(stdout).toContain('FLEETLOOM_KEY');
      const table = Array.from(stdout.matchAll(/^ {2}(\d+) {2,}/gm), ([, number]) => Number(number));
      const { ok, failed, usage, key, notFound, refused, unreachable, SIGINT } = exitCode;
      expect(table).toEqual([ok, failed, usage, key, notFound, refused, unreachable, SIGINT]);
    }
  });

  it('[Y82] no command of the program is without examples in its help', async () => {
    const listIn = async (...path: string[]): Promise<string[][]> => {
      const { code, stdout } = await call([...path, '--help']);
      expect([path, code]).toEqual([path, 0]);
      expect(stdout, path.join(' ')).toMatch(/Examples:\n {2}\$ /);
      const groups = Array.from(stdout.matchAll(/^(?!Options|Arguments|Examples|Exit)[A-Z][^\n]*:\n([^]*?)\n\n/gm));
      const names = groups
        .flatMap(([, list = '']) => Array.from(list.matchAll(/^ {2}([a-z]+)/gm), ([, name]) => name!))
        .filter((name) => name !== 'help');
      return [path, ...(await Promise.all(names.map((name) => listIn(...path, name)))).flat()];
    };
    const found = (await listIn()).map((path) => path.join(' '));
    expect(found).toEqual(expect.arrayContaining([...COMMANDS, 'agents apply', 'doctor', 'conformance', 'serve']));
  });

  it('[Y160] --help lists every command once, in named groups, each with one sentence', async () => {
    const { stdout } = await call(['--help']);
    const [, list = ''] = /^(Start:\n[^]*?)\n\nExamples:/m.exec(stdout) ?? [];
    const groups = Array.from(list.matchAll(/^(\S.*):$/gm), ([, heading]) => heading);
    expect(groups).toEqual(['Start', 'Work', 'Server', 'Claude Code streams', 'Tools']);
    const entries = Array.from(list.matchAll(/^ {2}([a-z]+) +([A-Z]\S+)/gm), ([, name, verb]) => ({ name, verb }));
    const names = entries.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(
      expect.arrayContaining([...COMMANDS, 'start', 'serve', 'agents', 'keys', 'doctor', 'import']),
    );
    // One line of the list per command: no command without a sentence.
    expect(list.match(/^ {2}[a-z]+/gm)).toHaveLength(entries.length);
  });

  it('[Y161] every argument and option has a description', () => {
    const program = createProgram(toLiveIo(new FakeIo()), () => {});
    const all = (command: typeof program): (typeof program)[] => [command, ...command.commands.flatMap(all)];
    const undescribed = all(program).flatMap((command) =>
      [...command.registeredArguments, ...command.options]
        .filter(({ description }) => description === '')
        .map((each) => `${command.name()} ${'flags' in each ? each.flags : each.name()}`),
    );
    expect(undescribed).toEqual([]);
  });

  it('[Y2] the codes are what scripts rely on', () => {
    expect(exitCode).toEqual({
      ok: 0,
      failed: 1,
      usage: 2,
      key: 3,
      notFound: 4,
      refused: 5,
      unreachable: 6,
      needsYou: 7,
      stalled: 8,
      unexpected: 70,
      SIGHUP: 129,
      SIGINT: 130,
      SIGTERM: 143,
    });
  });

  it('[Y3] a server, its HTTP layer and its database are loaded only by what starts one', () => {
    for (const command of COMMANDS) {
      const loaded = staticImports(join(dirname(COMPILED), IMPLEMENTATIONS[command])).map((path) =>
        readFileSync(path, 'utf8'),
      );
      expect([command, loaded.some((source) => /^import .*'@fleetloom\/server'/m.test(source))]).toEqual([
        command,
        false,
      ]);
      expect([command, loaded.some((source) => /^import .*'(string-width|yaml)'/m.test(source))]).toEqual([
        command,
        false,
      ]);
    }
  });
});

/** All files of ours that a file loads without being asked for. */
function staticImports(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/^import (?:[^'()]* from )?'(\..*?)';/gm)) {
    staticImports(join(dirname(file), path), seen);
  }
  return [...seen];
}
