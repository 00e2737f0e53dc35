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
    expect(complete(script, 'fleetloom se')).toEqual(['sessions', 'send', 'serve', 'secrets']);
    expect(complete(script, 'fleetloom serve --po')).toEqual(['--port']);
    expect(complete(script, 'fleetloom serve --log ')).toEqual(expect.arrayContaining(['json', 'off']));
    expect(complete(script, 'fleetloom sessions --status ru')).toEqual(['running']);
    expect(complete(script, 'fleetloom translate /et')).toEqual(['/etc']);
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
