import type { ThreadHealth } from '@fleetloom/protocol/fleet';
import type { Leases } from '../../store/store.ts';
import { isImporter } from '../imports/importer.ts';

export interface HealthFinderOptions {
  readonly leases: Pick<Leases, 'findOwner'>;
  /** What this process knows; undefined if it does not own the session. */
  readonly own: (sessionId: string) => readonly ThreadHealth[] | undefined;
  /** What this process knows of a session that a client imports as it runs. */
  readonly imported?: ((sessionId: string) => readonly ThreadHealth[] | undefined) | undefined;
  /** The other processes, where there are any. */
  readonly nodes?: HealthNodes | undefined;
}

export interface HealthNodes {
  readonly nodeId: string;
  /** How the owner of a lease is called. */
  readonly nodeOf: (owner: string) => string;
  /** Undefined if it does not answer, or does not own the session any more. */
  readonly ask: (nodeId: string, sessionId: string) => Promise<readonly ThreadHealth[] | undefined>;
}

export interface FoundHealth {
  readonly isKnown: boolean;
  readonly owner: { readonly nodeId: string | null } | null;
  readonly threads: readonly ThreadHealth[];
}

/** Asks whoever owns a session how its threads are: what is under way is known to nobody else. */
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
    const told = await nodes.ask(nodeId, sessionId);
    return { isKnown: told !== undefined, owner: { nodeId }, threads: told ?? [] };
  };
}
