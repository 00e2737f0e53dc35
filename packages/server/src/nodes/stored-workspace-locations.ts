import { FleetloomError } from '../base/errors.ts';
import { nodeLimits } from './limits.ts';
import type { WorkspaceLocations } from './workspace-locations.ts';
import type { DocumentRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import type { NodeRegistry } from './node-registry.ts';

export interface StoredWorkspaceLocationsOptions {
  readonly store: Pick<Store, 'documents'>;
  readonly nodes: Pick<NodeRegistry, 'nodeId' | 'silenceMs'>;
  /** Whether the disk of this node has the workspace of a session. `shared`: all nodes have the same workspaces. */
  readonly workspaces: 'shared' | { readonly has: (sessionId: string) => Promise<boolean> };
  readonly goneMs?: number | undefined;
}

/** Which node has the workspace of a session, shared by all nodes. */
export interface StoredWorkspaceLocations extends WorkspaceLocations {
  /** The node that has the workspace of a session; undefined if it is this node or none. */
  findOther(sessionId: string): Promise<string | undefined>;
}

/** Stores locations as documents. The node whose disk a session uses first records that the session is bound to it. */
export function createStoredWorkspaceLocations(options: StoredWorkspaceLocationsOptions): StoredWorkspaceLocations {
  const { store, nodes, workspaces, goneMs = nodeLimits.homeGoneMs } = options;
  const { documents } = store;
  if (goneMs < nodeLimits.nodeAliveMs) {
    throw new FleetloomError({
      code: 'home_gone_too_soon',
      kind: 'caller',
      problem: `nodes would count as gone after ${goneMs} ms, while they may only be slow to say that they are there`,
      advice: `let sessions wait for ${nodeLimits.nodeAliveMs} ms at least`,
    });
  }
  /** Sessions whose location is stored, so that each is written once. */
  const settled = new Set<string>();

  return {
    find: async (sessionId) => {
      const nodeId = await findNode(sessionId);
      if (nodeId === nodes.nodeId) {
        remember(sessionId);
        return 'here';
      }
      // While this node was away, another node may have deleted the record with `leave`.
      settled.delete(sessionId);
      if (nodeId === undefined) return 'none';
      return (await nodes.silenceMs(nodeId)) > goneMs ? 'lost' : 'elsewhere';
    },
    settle: async (sessionId, use) => {
      if ((use === 'workspace' && workspaces === 'shared') || settled.has(sessionId)) return;
      await writeDown(sessionId);
      remember(sessionId);
    },
    leave: async (sessionId) => {
      settled.delete(sessionId);
      await documents.delete(WORKSPACE_LOCATION, sessionId);
    },
    isHere: async (sessionId) =>
      settled.has(sessionId) || (workspaces !== 'shared' && (await workspaces.has(sessionId))),
    findOther: async (sessionId) => {
      const nodeId = await findNode(sessionId);
      return nodeId === nodes.nodeId ? undefined : nodeId;
    },
  };

  async function findNode(sessionId: string): Promise<string | undefined> {
    const found = await documents.get(WORKSPACE_LOCATION, sessionId);
    return found === undefined ? undefined : nodeOf(found);
  }

  /** Stores the location. Throws if another node has recorded it in the meantime, for example while this process was frozen. */
  async function writeDown(sessionId: string): Promise<void> {
    try {
      await documents.put({ kind: WORKSPACE_LOCATION, id: sessionId, data: { node: nodes.nodeId }, ifRevision: 0 });
    } catch (error) {
      if (!isStoreError(error, 'version_conflict')) throw error;
      const nodeId = await findNode(sessionId);
      if (nodeId !== nodes.nodeId) throw new Error(`${sessionId} is on another node by now`, { cause: error });
    }
  }

  function remember(sessionId: string): void {
    if (settled.size >= nodeLimits.locationsKnownMax) settled.clear();
    settled.add(sessionId);
  }
}

/** The node in a document. The cast is safe because only `writeDown` writes these documents. */
function nodeOf({ data }: DocumentRecord): string {
  return data['node'] as string;
}

/** The kind of the stored documents. Its text comes from older versions. */
export const WORKSPACE_LOCATION = 'home';
