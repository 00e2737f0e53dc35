import { expect, it } from 'vitest';
import { Lifetime, withLifetime } from './lifetime.ts';

it('[D20] opened resources are closed in reverse order, one after the other, and once', async () => {
  const closed: string[] = [];
  const lifetime = new Lifetime();
  for (const name of ['store', 'log', 'listener']) {
    lifetime.add(name, async (resource) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      closed.push(resource);
    });
  }
  await Promise.all([lifetime.close(), lifetime.close()]);
  await lifetime.close();
  expect(closed).toEqual(['listener', 'log', 'store']);
});

it('[D20] a start that fails closes everything it has opened and throws its own error', async () => {
  const closed: string[] = [];
  const starting = withLifetime(async (lifetime) => {
    lifetime.add('store', (name) => closed.push(name));
    lifetime.add('log', (name) => {
      closed.push(name);
      throw new Error('the log does not close');
    });
    throw new Error('port 80 is in use');
  });
  await expect(starting).rejects.toThrow('port 80 is in use');
  expect(closed).toEqual(['log', 'store']);
});

it('[D20] a closer that fails does not keep the others from running, and its error is thrown', async () => {
  const closed: string[] = [];
  const lifetime = new Lifetime();
  lifetime.onClose(() => closed.push('first'));
  lifetime.onClose(() => Promise.reject(new Error('stuck')));
  await expect(lifetime.close()).rejects.toThrow('stuck');
  expect(closed).toEqual(['first']);
  expect(() => lifetime.onClose(() => undefined)).toThrow('This lifetime is over');
});
