import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isOwnDirectory, listRunDirectories } from './kept-runs.ts';

it('[Y550] only directories that run created for itself count as its own, whatever the user names another one', () => {
  const data = '/nowhere/fleetloom';
  const env = { FLEETLOOM_DATA: data };
  expect(listRunDirectories(env)).toEqual([]);
  expect(isOwnDirectory(env, join(data, 'runs', 'k3v1'))).toBe(true);
  for (const other of [
    join(data, 'runs-old'),
    join(data, 'runs'),
    join(data, 'runs', 'k3v1', 'deeper'),
    data,
    '/tmp/d',
  ]) {
    expect([other, isOwnDirectory(env, other)]).toEqual([other, false]);
  }
});
