import { acpCapabilities, codexCapabilities, opencodeCapabilities } from '@fleetloom/server';
import { expect, it } from 'vitest';
import { describeProgram, type FoundOnMachine } from './describe-program.ts';

const codex = { name: 'Codex', prefix: 'codex', capabilities: codexCapabilities };
const describeCodex = (found: FoundOnMachine) => describeProgram(codex, found);

it('[CX40] doctor shows the version of Codex and how its sessions differ; a missing one is a note, a broken one a problem', () => {
  const found = describeCodex({ type: 'found', program: { path: '/bin/codex', version: '0.166.0' } });
  expect(found[0]).toEqual({
    name: 'Codex',
    state: 'ok',
    text: '0.166.0 (/bin/codex): sessions on codex/default run on it',
  });
  expect(found[1]).toMatchObject({
    state: 'note',
    text: expect.stringContaining('an approval cannot change the input'),
  });
  const about = { path: null, problem: 'no codex on PATH', advice: 'install it' };
  expect(describeCodex({ type: 'problem', problem: { ...about, reason: 'not_found' } })).toEqual([
    {
      name: 'Codex',
      state: 'note',
      text: 'no codex on PATH: models such as codex/default are not available',
      fix: 'Install it.',
    },
  ]);
  expect(describeCodex({ type: 'problem', problem: { ...about, reason: 'too_old' } })).toMatchObject([
    { state: 'problem' },
  ]);
});

it('[OC31, AC18] doctor shows what sessions on opencode and on an ACP agent lack, and where their model requests get a key', () => {
  const opencode = {
    name: 'opencode',
    prefix: 'opencode',
    capabilities: opencodeCapabilities,
    login: 'the key of this server',
  };
  const program = { path: '/bin/opencode', version: '1.18.33' };
  expect(describeProgram(opencode, { type: 'found', program }).map(({ state, text }) => `${state} ${text}`)).toEqual([
    'ok 1.18.33 (/bin/opencode): sessions on opencode/default run on it',
    'note the key of this server',
    expect.stringContaining('note sessions on opencode/… differ: '),
  ]);
  const agent = { name: 'acp:own', prefix: 'acp:own', capabilities: acpCapabilities };
  const [found, lacks] = describeProgram(agent, { type: 'found', program: { path: '/bin/own', version: null } });
  expect(found?.text).toBe('/bin/own: sessions on acp:own/default run on it');
  for (const lack of [
    'the program decides which calls need an approval',
    'custom tools are not available',
    'session/load',
  ])
    expect(lacks?.text).toContain(lack);
});
