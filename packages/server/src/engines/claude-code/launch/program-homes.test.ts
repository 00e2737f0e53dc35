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
import { createTreeRemover } from '../../../base/remove-tree.ts';
import { createProgramHomes } from './program-homes.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetloom-homes-'));
const remover = createTreeRemover({ onProblem: () => {} });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('[J216] a session has a directory that only the server can read, and removing it leaves what links in it lead to', async () => {
  const homes = createProgramHomes(join(folder, 'homes'), remover);
  const path = await homes.open('sesn_1');
  expect(lstatSync(path).mode & 0o777).toBe(0o700);
  mkdirSync(join(folder, 'elsewhere'));
  writeFileSync(join(folder, 'elsewhere', 'kept'), '');
  symlinkSync(join(folder, 'elsewhere'), join(path, 'link'));
  expect(await homes.list()).toEqual(['sesn_1']);
  await homes.remove('sesn_1');
  await homes.remove('sesn_1');
  expect([await homes.list(), readdirSync(join(folder, 'elsewhere'))]).toEqual([[], ['kept']]);
  await expect(homes.open('../sesn_1')).rejects.toThrow('not the id of a session');
});

it('[J216] a link that an agent has left where a file is mounted is removed, and not followed', async () => {
  const homes = createProgramHomes(join(folder, 'homes'), remover);
  const path = await homes.open('sesn_2');
  rmSync(join(path, '.claude'), { recursive: true });
  symlinkSync('/oldroot/tmp', join(path, '.claude'));
  await homes.open('sesn_2');
  expect(lstatSync(join(path, '.claude')).isDirectory()).toBe(true);
  symlinkSync('/oldroot/tmp/made', join(path, '.claude', '.credentials.json'));
  await homes.open('sesn_2');
  expect(existsSync(join(path, '.claude', '.credentials.json'))).toBe(false);
  writeFileSync(join(path, '.claude', 'history'), '');
  await homes.open('sesn_2');
  expect(readdirSync(join(path, '.claude'))).toEqual(['history']);
});
