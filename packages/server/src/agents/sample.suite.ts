import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';
import type { ManualClock } from '../base/clock.ts';
import { createIds } from '../base/ids.ts';
import { createEnvironments, type Environments } from '../environments/environments.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { type CreateStore, withStore } from '../store/suite/samples.suite.ts';
import { type Agents, createAgents } from './agents.ts';

/** The objects that tests of agents and environments use. */
export interface AgentsSample {
  readonly store: Store;
  readonly clock: ManualClock;
  readonly agents: Agents;
  readonly environments: Environments;
}

export type WithAgents = (run: (sample: AgentsSample) => Promise<void>) => () => Promise<void>;

/** Runs the tests on every store: the rules do not depend on the implementation. */
export function onEachStore(suite: (withAgents: WithAgents) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-agents-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  let count = 0;
  const stores: Record<string, CreateStore> = {
    memory: async ({ clock }) => createMemoryStore({ clock }),
    sqlite: ({ clock }) => openSqliteStore({ path: join(folder, `${count++}.db`), clock }),
  };
  for (const [name, createStore] of Object.entries(stores)) {
    describe(name, () =>
      suite((run) => () => withStore(createStore, async ({ store, clock }) => run(toSample(store, clock)))),
    );
  }
}

export const workspaceId = 'wrkspc_1';
export const model = 'scripted/demo';

function toSample(store: Store, clock: ManualClock): AgentsSample {
  const ids = createIds({ now: clock.now, random: () => 0.5 });
  const options = { store, clock, ids };
  return { store, clock, agents: createAgents(options), environments: createEnvironments(options) };
}
