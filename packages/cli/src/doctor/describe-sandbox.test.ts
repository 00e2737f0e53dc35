import { expect, it } from 'vitest';
import { describeEgress, describeSandbox } from './describe-sandbox.ts';

it('[U152] doctor names each protection of the sandbox that is missing, with what to do', () => {
  expect(describeSandbox(null, [])).toEqual([
    { name: 'Sandbox', state: 'ok', text: 'bubblewrap works: agents can run bash' },
  ]);
  const gap = { text: 'memory is not limited (no cgroups)', fix: 'Start it with systemd-run.' };
  expect(describeSandbox(null, [gap])).toEqual([
    { name: 'Sandbox', state: 'ok', text: 'bubblewrap works: agents can run bash' },
    { name: 'Sandbox', state: 'note', ...gap },
  ]);
  expect(describeSandbox('bubblewrap (bwrap) is not installed', [])).toEqual([
    {
      name: 'Sandbox',
      state: 'note',
      text: 'bubblewrap (bwrap) is not installed: agents cannot run bash',
      fix: expect.stringContaining('install bubblewrap'),
    },
  ]);
});

it('[EG110] doctor says whether commands reach other hosts, and which package managers there are', () => {
  expect(describeEgress(null, ['npm', 'pip'])).toEqual({
    name: 'Egress',
    state: 'ok',
    text: 'commands reach the hosts of their environment through the proxy; packages: npm, pip',
  });
  expect(describeEgress(null, []).text).toContain('no package manager is installed');
  const without = describeEgress('bubblewrap (bwrap) is not installed', ['npm']);
  expect(without).toMatchObject({ state: 'note', text: expect.stringContaining('no variables of vaults') });
});
