import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createTreeRemover } from '../../../base/files/remove-tree.ts';
import { createProgramHomes } from './program-homes.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetloom-homes-'));
const remover = createTreeRemover({ onProblem: () => {} });
const layout = { config: '.claude', login: '.credentials.json', userSettings: [] };
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('[J216] a session has a directory that only the server can read, and removing it leaves what links in it lead to', async () => {
  const homes = createProgramHomes(join(folder, 'homes'), remover, layout);
  const path = await homes.open({ sessionId: 'sesn_1' });
  expect(lstatSync(path).mode & 0o777).toBe(0o700);
  mkdirSync(join(folder, 'elsewhere'));
  writeFileSync(join(folder, 'elsewhere', 'kept'), '');
  symlinkSync(join(folder, 'elsewhere'), join(path, 'link'));
  expect(await homes.list()).toEqual(['sesn_1']);
  await homes.remove('sesn_1');
  await homes.remove('sesn_1');
  expect([await homes.list(), readdirSync(join(folder, 'elsewhere'))]).toEqual([[], ['kept']]);
  await expect(homes.open({ sessionId: '../sesn_1' })).rejects.toThrow('not the id of a session');
});

it('[J216] a link that an agent has left where a file is mounted is removed, and not followed', async () => {
  const homes = createProgramHomes(join(folder, 'homes'), remover, layout);
  const path = await homes.open({ sessionId: 'sesn_2' });
  rmSync(join(path, '.claude'), { recursive: true });
  symlinkSync('/oldroot/tmp', join(path, '.claude'));
  await homes.open({ sessionId: 'sesn_2' });
  expect(lstatSync(join(path, '.claude')).isDirectory()).toBe(true);
  symlinkSync('/oldroot/tmp/made', join(path, '.claude', '.credentials.json'));
  await homes.open({ sessionId: 'sesn_2' });
  expect(existsSync(join(path, '.claude', '.credentials.json'))).toBe(false);
  writeFileSync(join(path, '.claude', 'history'), '');
  await homes.open({ sessionId: 'sesn_2' });
  expect(readdirSync(join(path, '.claude'))).toEqual(['history']);
});

it('[R403] each roster member that runs on a program has a directory of its own, which is removed with the session', async () => {
  const homes = createProgramHomes(join(folder, 'homes'), remover, layout);
  const owners = [{}, { threadId: 'sthr_1' }, { threadId: 'sthr_2' }].map((of) => ({ sessionId: 'sesn_3', ...of }));
  const paths = await Promise.all(owners.map((owner) => homes.open(owner)));
  expect(new Set(paths).size).toBe(3);
  await homes.open({ sessionId: 'sesn_33' });
  expect((await homes.list()).toSorted()).toEqual(expect.arrayContaining(['sesn_3', 'sesn_33']));
  await homes.remove('sesn_3');
  expect(paths.map((path) => existsSync(path))).toEqual([false, false, false]);
  expect(await homes.list()).toContain('sesn_33');
  await expect(homes.open({ sessionId: 'sesn_3', threadId: '../sthr_1' })).rejects.toThrow('not the id of a session');
});
