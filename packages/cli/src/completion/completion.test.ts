import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { FakeIo } from '../../test-support/fake-io.ts';
import { toLiveIo } from '../../test-support/live-io.ts';
import { runProgram } from '../program.ts';
import { shells } from './scripts.ts';

async function scriptFor(shell: string): Promise<string> {
  const io = new FakeIo();
  expect(await runProgram(toLiveIo(io), ['completion', shell])).toBe(0);
  return io.stdout.text;
}

/** What bash offers for a line with the cursor at its end. */
function complete(script: string, line: string): string[] {
  const words = line.split(' ');
  const program = `${script}
COMP_WORDS=(${words.map((word) => `"${word}"`).join(' ')}); COMP_CWORD=${words.length - 1}; _fleetloom
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', program], { encoding: 'utf8', cwd: '/' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((each) => each !== '');
}

describe('fleetloom completion', () => {
  it('[Y75] a real bash offers commands, options, and the values that an option takes', async () => {
    const script = await scriptFor('bash');
    expect(complete(script, 'fleetloom se')).toEqual(['sessions', 'send', 'serve']);
    expect(complete(script, 'fleetloom serve --po')).toEqual(['--port']);
    expect(complete(script, 'fleetloom serve --log ')).toEqual(expect.arrayContaining(['json', 'off']));
    expect(complete(script, 'fleetloom sessions --status ru')).toEqual(['running']);
    expect(complete(script, 'fleetloom translate /et')).toEqual(['/etc']);
  });

  it('[Y432] a real bash offers ids where a command takes a session or a rule, and runs nothing that a name contains', async () => {
    // Stands for the program on PATH.
    const program = `fleetloom() {
  [ "$1 $2" = "__ids session" ] && printf '01kdvdna00w8\\tdone: $(touch /tmp/owned)\\n01kdvdnb11x9\\tfailed: \\140id\\140\\n'
  [ "$1 $2" = "__ids rule" ] && printf 'rule_0101kd\\tbash(command: npm test*)\\n'
}`;
    const script = `${program}\n${await scriptFor('bash')}`;
    expect(complete(script, 'fleetloom threads 01')).toEqual(['01kdvdna00w8', '01kdvdnb11x9']);
    expect(complete(script, 'fleetloom approve 01kdvdnb')).toEqual(['01kdvdnb11x9']);
    expect(complete(script, 'fleetloom delete ')).toEqual(expect.arrayContaining(['--yes', '01kdvdna00w8']));
    expect(complete(script, 'fleetloom rules remove rule')).toEqual(['rule_0101kd']);
    expect(complete(script, 'fleetloom threads --js')).toEqual(['--json']);
    expect(complete(script, 'fleetloom translate 01')).toEqual([]);
    for (const shell of shells) expect(await scriptFor(shell)).toContain('__ids');
  });

  it('[Y75] every shell gets a program that knows every command', async () => {
    const commands = ['start', 'serve', 'watch', 'export', 'doctor'];
    for (const shell of shells) {
      const script = await scriptFor(shell);
      for (const each of commands) expect(script).toContain(each);
      expect(script).not.toContain('undefined');
    }
  });

  it('[Y75] another shell is wrong usage, and the ones there are are named', async () => {
    const io = new FakeIo();
    expect(await runProgram(toLiveIo(io), ['completion', 'tcsh'])).toBe(2);
    expect(io.stderr.text).toContain('bash, zsh, fish, pwsh');
  });
});
