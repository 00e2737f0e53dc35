import { expect, it } from 'vitest';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import type { Store } from '../store/store.ts';
import { storeError } from '../store/store-errors.ts';
import { openFleet, solo, workspaceId } from './suite/fleet.suite.ts';

it('[R264] a session that was deleted before it is opened is not reported as a problem; one that exists and cannot be found is', async () => {
  const store = createMemoryStore();
  let notify: Parameters<Store['subscribe']>[0] = () => {};
  const subscribe: Store['subscribe'] = (listener) => {
    notify = listener;
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
  for (const sessionId of ['sesn_gone', id]) notify([{ type: 'inputs', sessionId }]);
  await expect.poll(() => fleet.problems.map(String)).toEqual([expect.stringContaining(`${id} does not exist`)]);
  expect(asked).toContain('sesn_gone');
});
