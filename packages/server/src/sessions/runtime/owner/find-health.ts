import type { HealthNodes } from '../../../nodes/node-health.ts';
import type { ThreadHealth } from '@fleetloom/protocol/fleet';
import type { Leases } from '../../../store/store.ts';
import { isImporter } from '../../core/importer.ts';

/** What the health finder needs. */
export interface HealthFinderOptions {
  readonly leases: Pick<Leases, 'findOwner'>;
  /** The health of a session that this process owns; undefined if another process owns it. */
  readonly own: (sessionId: string) => readonly ThreadHealth[] | undefined;
  /** The health of a session that a client imports while it runs. */
  readonly imported?: ((sessionId: string) => readonly ThreadHealth[] | undefined) | undefined;
  /** The other nodes, if several share the store. */
  readonly nodes?: HealthNodes | undefined;
}

/** The health of a session's threads, and the node that owns the session. */
export interface FoundHealth {
  readonly isKnown: boolean;
  readonly owner: { readonly nodeId: string | null } | null;
  readonly threads: readonly ThreadHealth[];
}

/** Creates a function that requests the health of threads from the owner of a session: only the owner knows it. */
export function createHealthFinder(options: HealthFinderOptions): (sessionId: string) => Promise<FoundHealth> {
  const { leases, own, nodes } = options;
  return async (sessionId) => {
    const threads = own(sessionId);
    if (threads !== undefined) return { isKnown: true, owner: { nodeId: nodes?.nodeId ?? null }, threads };
    const owner = await leases.findOwner(sessionId);
    if (owner === undefined) return { isKnown: true, owner: null, threads: [] };
    const imported = isImporter(owner) ? options.imported?.(sessionId) : undefined;
    if (imported !== undefined) return { isKnown: true, owner: { nodeId: nodes?.nodeId ?? null }, threads: imported };
    if (nodes === undefined) return { isKnown: false, owner: { nodeId: null }, threads: [] };
    const nodeId = nodes.nodeOf(owner);
    const threadsThere = await nodes.ask(nodeId, sessionId);
    return { isKnown: threadsThere !== undefined, owner: { nodeId }, threads: threadsThere ?? [] };
  };
}
