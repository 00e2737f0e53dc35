import { join } from 'node:path';
import { openSqliteStore } from '../../../packages/server/src/store/sqlite/sqlite-store.ts';
import { addManySessions } from '../../../packages/server/src/views/sessions/many-sessions.suite.ts';
import type { Dashboard } from './open-dashboard.ts';
import { createAgent, startSession, untilIdle } from './small-fleet.ts';

const workspaceId = 'wrkspc_default';

/** Adds many sessions in all states, and one that really ran; returns the id of the latter. */
export async function seedSessions({ api, restart }: Dashboard, count: number): Promise<string> {
  const agent = await createAgent(api, 'zebra', [[{ say: 'All is well.' }]]);
  const sessionId = await startSession(api, agent, 'A session that ran');
  await untilIdle(api, sessionId);
  await restart(async (dataDirectory) => {
    const store = await openSqliteStore({ path: join(dataDirectory, 'fleetloom.db') });
    const real = await store.sessions.get(workspaceId, sessionId);
    if (real === undefined) throw new Error('the session was not stored');
    await addManySessions(store, { workspaceId, count, now: Date.now(), data: real.data });
    await store.close();
  });
  return sessionId;
}
