import type { ThreadHealth } from '@fleetloom/protocol/fleet';
import type { JsonObject } from '../base/json/json.ts';
import { nodeLimits } from './limits.ts';
import type { NodeMessages } from './node-messages.ts';

/** The nodes of a store, as a node that looks for the health of a session sees them. */
export interface HealthNodes {
  readonly nodeId: string;
  /** How the owner of a lease is called. */
  readonly nodeOf: (owner: string) => string;
  /** Undefined if it does not answer, or does not own the session any more. */
  readonly ask: (nodeId: string, sessionId: string) => Promise<readonly ThreadHealth[] | undefined>;
}

/** How the nodes of a store ask each other what their sessions do at this moment. */
export function createHealthNodes(nodeId: string, messages: Pick<NodeMessages, 'ask'>): HealthNodes {
  return {
    nodeId,
    nodeOf: (owner) => owner.split(' ')[0]!,
    ask: async (to, sessionId) => {
      const given = await messages.ask(to, { type: HEALTH, sessionId }, nodeLimits.healthWaitMs);
      await given?.done();
      // The other side is the same program.
      return given?.answer['threads'] as unknown as readonly ThreadHealth[] | undefined;
    },
  };
}

/** The owner of a lease, as `createHealthNodes` reads it. Each start of a node is another one. */
export function toOwner(nodeId: string, instance: string): string {
  return `${nodeId} ${instance}`;
}

/** The other side. What is asked for besides is answered by `others`. */
export function answerHealth(
  own: (sessionId: string) => readonly ThreadHealth[] | undefined,
  others: (question: JsonObject, id: string) => Promise<JsonObject>,
): typeof others {
  return async (question, id) => {
    if (question['type'] !== HEALTH) return others(question, id);
    // Only `createHealthNodes` asks.
    const threads = own(question['sessionId'] as string);
    return threads === undefined ? {} : { threads: threads as unknown as JsonObject[] };
  };
}

const HEALTH = 'health';
