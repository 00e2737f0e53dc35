import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { type AuditEntry, CHAIN_START, type NewAuditEntry, toEntryHash, toEntryText } from '../audit.ts';
import type { Store } from '../store.ts';
import type { Write } from '../write.ts';
import { append, type CreateStore, codeOf, enqueue, owned, withStore } from './samples.suite.ts';

/** Each test has workspaces of its own: a database is shared by all tests of a file. */
const newWorkspace = () => `wrkspc_${randomUUID()}`;
const toEntry =
  (workspaceId: string) =>
  (action: string): NewAuditEntry => ({ workspaceId, data: { action, target: null } });

/** The actions of a workspace, after its chain was checked. */
async function actionsOf(store: Store, workspaceId: string): Promise<unknown[]> {
  const { start, head } = await store.audit.ends(workspaceId);
  const entries = await store.audit.list({ workspaceId, after: 0, limit: 1_000 });
  checkChain(start, entries);
  const { seq, hash } = entries.at(-1) ?? start;
  expect(head).toEqual({ seq, hash });
  return entries.map(({ data }) => data['action']);
}

function checkChain(start: { seq: number; hash: string }, entries: readonly AuditEntry[]): void {
  let before = start;
  for (const each of entries) {
    expect(each.seq).toBe(before.seq + 1);
    expect(each.hash).toBe(toEntryHash(before.hash, each, toEntryText(each.data)));
    before = each;
  }
}

export function auditSuite(createStore: CreateStore): void {
  it('[ID20] an entry is written with the change that it records, and not if the change is refused', () =>
    withStore(createStore, async ({ store }) => {
      const { agents, environments, documents } = store;
      const W = newWorkspace();
      const entry = toEntry(W);
      const [agentId, environmentId, kind] = [randomUUID(), randomUUID(), randomUUID()];
      const agent = { workspaceId: W, id: agentId, createdAt: 1, data: {} };
      await agents.create(agent, entry('agent.created'));
      expect(await codeOf(agents.create(agent, entry('refused')))).toBe('already_exists');
      const change = { workspaceId: W, id: agentId, updatedAt: 2, data: {} };
      await agents.addVersion({ ...change, ifVersion: 1 }, entry('agent.updated'));
      expect(await codeOf(agents.addVersion({ ...change, ifVersion: 1 }, entry('refused')))).toBe('version_conflict');
      await agents.archive(W, agentId, 3, entry('agent.archived'));
      expect(await codeOf(agents.archive(W, 'agent_2', 3, entry('refused')))).toBe('not_found');
      const environment = { workspaceId: W, id: environmentId, createdAt: 1, data: {} };
      await environments.create(environment, entry('environment.created'));
      expect(await codeOf(environments.create(environment, entry('refused')))).toBe('already_exists');
      const update = { workspaceId: W, id: environmentId, updatedAt: 2, data: {} };
      await environments.update(update, entry('environment.updated'));
      await environments.archive(W, environmentId, 3, entry('environment.archived'));
      expect(await codeOf(environments.update(update, entry('refused')))).toBe('archived');
      await environments.delete(W, environmentId, entry('environment.deleted'));
      expect(await codeOf(environments.delete(W, environmentId, entry('refused')))).toBe('not_found');
      await documents.put({ kind, id: 'a', data: {}, ifRevision: 0 }, entry('document.put'));
      const again = documents.put({ kind, id: 'a', data: {}, ifRevision: 0 }, entry('refused'));
      expect(await codeOf(again)).toBe('version_conflict');
      await documents.delete(kind, 'a', entry('document.deleted'));
      await documents.delete(kind, 'a', entry('refused'));
      expect(await actionsOf(store, W)).toEqual([
        'agent.created',
        'agent.updated',
        'agent.archived',
        'environment.created',
        'environment.updated',
        'environment.archived',
        'environment.deleted',
        'document.put',
        'document.deleted',
      ]);
    }));

  it('[ID20] of writes that are committed together each has its entries or none, beside frames and other changes', () =>
    withStore(createStore, async ({ store }) => {
      const workspaceId = newWorkspace();
      const id = `sesn_${randomUUID()}`;
      const fence = await owned(store, id);
      const audit = (action: string) => ({ type: 'audit' as const, entry: toEntry(workspaceId)(action) });
      const submit = (input: string, action: string): Write => ({
        type: 'submit',
        sessionId: id,
        changes: [audit(action), enqueue(input)],
      });
      const outcomes = await store.commit([
        submit('sevt_1', 'one'),
        submit('sevt_1', 'refused'),
        append(id, fence, ['frame'], [audit('two')]),
        append(id, fence - 1, ['stale'], [audit('refused')]),
        submit('sevt_2', 'three'),
      ]);
      expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, true, false, true]);
      expect(await actionsOf(store, workspaceId)).toEqual(['one', 'two', 'three']);
    }));

  it('[ID21] the chain of each workspace stays one line under concurrent writes, with any text', () =>
    withStore(createStore, async ({ store }) => {
      const [W, other] = [newWorkspace(), newWorkspace()];
      const kind = randomUUID();
      const texts = ['ü\u0000\u{10ffff}\ud800', '"\\\n', '{"a":1}', '😀', ''];
      const many = Array.from({ length: 40 }, (_, index) => index);
      await Promise.all(
        many.map((index) => {
          const workspaceId = index % 2 === 0 ? W : other;
          const data = { action: `put ${index}`, target: texts[index % texts.length]! };
          const id = String(index);
          return store.documents.put({ kind, id, data: {} }, { workspaceId, data });
        }),
      );
      await store.audit.append([toEntry(W)('a'), toEntry(other)('b'), toEntry(W)('c')]);
      expect((await actionsOf(store, W)).length).toBe(22);
      expect((await actionsOf(store, W)).slice(-2)).toEqual(['a', 'c']);
      expect((await actionsOf(store, other)).length).toBe(21);
      const heads = await store.audit.heads();
      expect([heads.get(W)?.seq, heads.get(other)?.seq]).toEqual([22, 21]);
    }));

  it('[ID22] retention removes entries from the beginning only, and the rest still verifies behind what was removed', () =>
    withStore(createStore, async ({ store, clock }) => {
      const W = newWorkspace();
      const entry = toEntry(W);
      // Later than what other tests have left.
      clock.advance(1_000_000);
      for (let index = 1; index <= 5; index++) {
        await store.audit.append([entry(`${index}`)]);
        clock.advance(10);
      }
      const [, , third] = await store.audit.list({ workspaceId: W, after: 0, limit: 9 });
      await store.audit.prune(third!.time, 1);
      expect(await actionsOf(store, W)).toEqual(['2', '3', '4', '5']);
      expect(await store.audit.prune(third!.time, 99)).toBeGreaterThan(0);
      expect(await store.audit.prune(third!.time, 99)).toBe(0);
      expect(await actionsOf(store, W)).toEqual(['3', '4', '5']);
      expect((await store.audit.ends(W)).start.seq).toBe(2);
      expect(await store.audit.prune(clock.now() + 1, 9)).toBe(3);
      await store.audit.append([entry('6')]);
      expect((await store.audit.ends(W)).head.seq).toBe(6);
      expect(await actionsOf(store, W)).toEqual(['6']);
      expect(await store.audit.ends('wrkspc_none')).toEqual({ start: CHAIN_START, head: CHAIN_START });
    }));
}
