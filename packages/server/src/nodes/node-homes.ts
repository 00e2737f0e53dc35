import { limits } from '../base/limits.ts';
import type { Homes } from '../sessions/owner/homes.ts';
import type { DocumentRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import type { NodeRegistry } from './node-registry.ts';

export interface NodeHomesOptions {
  readonly store: Pick<Store, 'documents'>;
  readonly nodes: Pick<NodeRegistry, 'nodeId' | 'silenceMs'>;
  readonly hasWorkspace: (sessionId: string) => Promise<boolean>;
  readonly goneMs?: number | undefined;
}

export interface NodeHomes extends Homes {
  /** The node that has the workspace of a session; undefined if it is this one or none. */
  findOther(sessionId: string): Promise<string | undefined>;
}

/** Homes as documents: the node that first uses the workspace of a session writes down that it is there. */
export function createNodeHomes(options: NodeHomesOptions): NodeHomes {
  const { store, nodes, hasWorkspace, goneMs = limits.homeGoneMs } = options;
  const { documents } = store;
  /** Those that were written down here, to write each once. */
  const settled = new Set<string>();
  return {
    find: async (sessionId) => {
      const found = await documents.get(HOME, sessionId);
      if (found === undefined) return 'none';
      const nodeId = nodeOf(found);
      if (nodeId === nodes.nodeId) return 'here';
      return (await nodes.silenceMs(nodeId)) > goneMs ? 'lost' : 'elsewhere';
    },
    settle: async (sessionId) => {
      if (settled.has(sessionId)) return;
      await documents.put({ kind: HOME, id: sessionId, data: { node: nodes.nodeId } });
      if (settled.size >= limits.homesKnownMax) settled.clear();
      settled.add(sessionId);
    },
    leave: async (sessionId) => {
      settled.delete(sessionId);
      await documents.delete(HOME, sessionId);
    },
    hasWorkspace,
    findOther: async (sessionId) => {
      const found = await documents.get(HOME, sessionId);
      const nodeId = found === undefined ? undefined : nodeOf(found);
      return nodeId === nodes.nodeId ? undefined : nodeId;
    },
  };
}

/** Only `settle` writes it. */
function nodeOf({ data }: DocumentRecord): string {
  return data['node'] as string;
}

export const HOME = 'home';
