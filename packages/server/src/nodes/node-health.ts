import type { ThreadHealth } from '@fleetloom/protocol/fleet';
import type { JsonObject } from '../base/json/json.ts';
import { nodeLimits } from './limits.ts';
import type { NodeMessages } from './node-messages.ts';

/** Reads the health of sessions on other nodes. */
export interface HealthNodes {
  readonly nodeId: string;
  /** The node id in the owner text of a lease. */
  readonly nodeOf: (owner: string) => string;
  /** Undefined if the node does not respond, or does not own the session any more. */
  readonly ask: (nodeId: string, sessionId: string) => Promise<readonly ThreadHealth[] | undefined>;
}

/** Creates the reader of the current health of sessions on other nodes. */
export function createHealthNodes(nodeId: string, messages: Pick<NodeMessages, 'ask'>): HealthNodes {
  return {
    nodeId,
    nodeOf: (owner) => owner.split(' ')[0]!,
    ask: async (to, sessionId) => {
      const given = await messages.ask(to, { type: HEALTH, sessionId }, nodeLimits.healthWaitMs);
      await given?.done();
      // The cast is safe because the other node runs the same program.
      return given?.answer['threads'] as unknown as readonly ThreadHealth[] | undefined;
    },
  };
}

/** The owner text of a lease, which `createHealthNodes` parses. It differs for each start of a node. */
export function toOwner(nodeId: string, instance: string): string {
  return `${nodeId} ${instance}`;
}

/** Handles health requests of other nodes. Other requests are passed to `others`. */
export function answerHealth(
  own: (sessionId: string) => readonly ThreadHealth[] | undefined,
  others: (question: JsonObject, id: string) => Promise<JsonObject>,
): typeof others {
  return async (question, id) => {
    if (question['type'] !== HEALTH) return others(question, id);
    // Only `createHealthNodes` sends these requests.
    const threads = own(question['sessionId'] as string);
    return threads === undefined ? {} : { threads: threads as unknown as JsonObject[] };
  };
}

const HEALTH = 'health';
