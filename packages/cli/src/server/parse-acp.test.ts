import { expect, it } from 'vitest';
import { parseAcp } from './parse-acp.ts';
import { toOtherPrograms } from './programs.ts';

it('[AC16] --acp names an agent and its command, whose arguments may be in quotes; anything else is an error that shows an example', () => {
  expect(parseAcp('opencode=opencode acp')).toEqual({ name: 'opencode', command: ['opencode', 'acp'] });
  expect(parseAcp(`own.1 = "/my agents/own" --mode='a b' -c "x=y" ''`)).toEqual({
    name: 'own.1',
    command: ['/my agents/own', "--mode='a", "b'", '-c', 'x=y', ''],
  });
  for (const value of ['opencode', '=opencode', 'a/b=opencode', 'a=', `${'n'.repeat(64)}=x`]) {
    expect(() => parseAcp(value)).toThrow('is not an ACP agent');
  }
  const options = { programs: ['default'], acp: ['one=first --acp', 'two=second'], acpLogin: true };
  expect(toOtherPrograms(options, [{ name: 'acp' }])).toMatchObject({
    'acp:one': { workspaces: ['wrkspc_default'], command: ['first', '--acp'], usesOwnLogin: true },
    'acp:two': { command: ['second'] },
  });
});
