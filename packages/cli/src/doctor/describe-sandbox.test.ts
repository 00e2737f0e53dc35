import { expect, it } from 'vitest';
import { describeSandbox } from './describe-sandbox.ts';

it('[U152] doctor names each protection of the sandbox that is missing, with what to do', () => {
  expect(describeSandbox(null, [])).toEqual([
    { name: 'Sandbox', state: 'ok', text: 'bubblewrap works: agents may run bash' },
  ]);
  const gap = { text: 'memory is not limited (no cgroups)', fix: 'Start it with systemd-run.' };
  expect(describeSandbox(null, [gap])).toEqual([
    { name: 'Sandbox', state: 'ok', text: 'bubblewrap works: agents may run bash' },
    { name: 'Sandbox', state: 'note', ...gap },
  ]);
  expect(describeSandbox('bubblewrap (bwrap) is not installed', [])).toEqual([
    {
      name: 'Sandbox',
      state: 'note',
      text: 'bubblewrap (bwrap) is not installed: bash is refused to agents',
      fix: expect.stringContaining('install bubblewrap'),
    },
  ]);
});
