import type { Clock } from '../../base/clock.ts';
import { checkVersion } from '../guards.ts';
import { ownerOfDocument } from '../owner-of-document.ts';
import type { DocumentRecord } from '../records.ts';
import type { BlobParts, BlobSize } from '../blobs.ts';
import type { Store } from '../store.ts';
import type { Undo } from '../table.ts';
import { appendAudit } from './audit-log.ts';
import { pageOf } from './lists.ts';
import { keep, type State } from './state.ts';

export function createDocuments(state: State, clock: Clock): Store['documents'] {
  const { documents } = state;
  return {
    get: async (kind, id) => documents.get(`${kind} ${id}`),
    getAll: async (kind, ids) => [...new Set(ids)].flatMap((id) => documents.get(`${kind} ${id}`) ?? []),
    put: async (document, audit) => {
      const undo: Undo = [];
      return orUndo(undo, () => {
        const written = put(document, undo);
        appendAudit(state, clock, audit, undo);
        return written;
      });
    },
    change: async (changes, audit) => {
      const undo: Undo = [];
      orUndo(undo, () => {
        for (const change of changes) {
          if (change.type === 'put') put(change, undo);
          else remove(change, undo);
        }
        appendAudit(state, clock, audit, undo);
      });
    },
    list: async (request) => {
      const { kind } = request;
      const mine = documents.values().filter((document) => document.kind === kind);
      return pageOf(`documents of ${kind}`, mine, request, ({ id }) => ({ time: 0, id }));
    },
    listOfWorkspace: async ({ kind, workspaceId, limit, above, below, order }) =>
      ofWorkspace(kind, workspaceId)
        .filter(({ id }) => (above === undefined || id > above) && (below === undefined || id < below))
        .sort((a, b) => (a.id < b.id === (order === 'asc') ? -1 : 1))
        .slice(0, limit),
    countOfWorkspace: async ({ kind, workspaceId, max }) => Math.min(max, ofWorkspace(kind, workspaceId).length),
    delete: async (kind, id, audit) => {
      if (documents.get(`${kind} ${id}`) !== undefined) appendAudit(state, clock, audit);
      remove({ kind, id });
    },
  };

  function remove({ kind, id, ifRevision }: { kind: string; id: string; ifRevision?: number }, undo?: Undo): void {
    checkVersion(`${kind} ${id}`, ifRevision, documents.get(`${kind} ${id}`)?.revision ?? 0);
    documents.delete(`${kind} ${id}`, undo);
  }

  function put({ kind, id, data, ifRevision }: Parameters<Store['documents']['put']>[0], undo?: Undo): DocumentRecord {
    const revision = documents.get(`${kind} ${id}`)?.revision ?? 0;
    checkVersion(`${kind} ${id}`, ifRevision, revision);
    const document = { kind, id, revision: revision + 1, data, updatedAt: clock.now() };
    return keep(documents, `${kind} ${id}`, document, undo);
  }

  function ofWorkspace(kind: string, workspaceId: string): DocumentRecord[] {
    const all = [...documents.values()];
    return all.filter((document) => document.kind === kind && ownerOfDocument(document) === workspaceId);
  }
}

export function createBlobParts(): BlobParts {
  const whole = new Map<string, { key: number } & BlobSize>();
  const parts = new Map<number, Uint8Array[]>();
  let lastKey = 0;
  const forget = (id: string) => {
    const blob = whole.get(id);
    if (blob !== undefined) parts.delete(blob.key);
    whole.delete(id);
  };
  return {
    begin: async () => {
      parts.set(++lastKey, []);
      return lastKey;
    },
    add: async (key, _index, bytes) => void parts.get(key)!.push(bytes),
    finish: async (key, id, size) => {
      forget(id);
      whole.set(id, { key, ...size });
    },
    discard: async (key) => void parts.delete(key),
    find: async (id) => whole.get(id),
    get: async (key, index) => parts.get(key)?.[index],
    delete: async (id) => forget(id),
  };
}

function orUndo<Result>(undo: Undo, change: () => Result): Result {
  try {
    return change();
  } catch (error) {
    for (const revert of undo.toReversed()) revert();
    throw error;
  }
}
