import { expect, it } from 'vitest';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import type { Store } from '../store/store.ts';
import { storeError } from '../store/store-errors.ts';
import { openFleet, solo, workspaceId } from './suite/fleet.suite.ts';

it('[R264] a session that was deleted when somebody takes it up is no trouble; one that is there and cannot be found is', async () => {
  const store = createMemoryStore();
  let tell: Parameters<Store['subscribe']>[0] = () => {};
  const subscribe: Store['subscribe'] = (listener) => {
    tell = listener;
    return store.subscribe(listener);
  };
  const asked: string[] = [];
  const acquire: Store['leases']['acquire'] = async ({ sessionId }) => {
    asked.push(sessionId);
    throw storeError('not_found', `${sessionId} does not exist`);
  };
  const fleet = await openFleet({ store: { ...store, subscribe, leases: { ...store.leases, acquire } } });
  const environment = { id: 'env_1', type: 'cloud' } as const;
  const { id } = await fleet.sessions.create({ workspaceId, agent: solo, environment });
  for (const sessionId of ['sesn_gone', id]) tell([{ type: 'inputs', sessionId }]);
  await expect.poll(() => fleet.problems.map(String)).toEqual([expect.stringContaining(`${id} does not exist`)]);
  expect(asked).toContain('sesn_gone');
});
