import Anthropic, { toFile } from '@anthropic-ai/sdk';
import type { Store } from '../../store/store.ts';

// Forks of a session with files, on a store that fails on demand.

/** Tables with rows of sessions. Without leases and presence of nodes, which change all the time. */
export const TABLES = ['sessions', 'segments', 'threads', 'inputs', 'approvals', 'works', 'blobs', 'blob_parts'];

/** A session with two mounted files, and its id. */
export async function prepareFork(client: Anthropic): Promise<string> {
  const agent = await client.beta.agents.create({ name: 'a', model: 'scripted/echo' });
  const environment = await client.beta.environments.create({ name: 'here' });
  const files = await Promise.all(
    ['a', 'b'].map(async (name) => client.beta.files.upload({ file: await toFile(Buffer.from(name), `${name}.txt`) })),
  );
  const { id } = await client.beta.sessions.create({
    agent: agent.id,
    environment_id: environment.id,
    resources: files.map(({ id: file_id }) => ({ type: 'file', file_id })),
  });
  return id;
}

export function forkOf(client: Anthropic, source: string): Promise<{ readonly id: string }> {
  return client.post(`/v1/sessions/${source}/fork`, { body: {} });
}

/** A store of which the n-th write after `arm(n)` calls `fail`. */
export function failingAt(store: Store, fail: () => never = refuse) {
  let left = 0;
  let failed = false;
  const write = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    if (left > 0 && --left === 0) {
      failed = true;
      fail();
    }
    return await run();
  };
  const failing: Store = {
    ...store,
    // Only writes that create records fail: removing the records again must work.
    commit: (writes) => {
      const isMaking = writes.some(({ type }) => type === 'create');
      return isMaking ? write(() => store.commit(writes)) : store.commit(writes);
    },
    documents: {
      ...store.documents,
      put: (document) => {
        const isMaking = ['mounting', 'session_resources'].includes(document.kind);
        return isMaking ? write(() => store.documents.put(document)) : store.documents.put(document);
      },
    },
    blobs: { ...store.blobs, write: (id, bytes) => write(() => store.blobs.write(id, bytes)) },
  };
  return {
    store: failing,
    /** Selects the write that fails, counted from now; 0: none. */
    arm: (which: number) => {
      left = which;
      failed = false;
    },
    hasFailed: () => failed,
  };
}

function refuse(): never {
  throw new Error('the disk is full');
}
