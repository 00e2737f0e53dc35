import type { JsonObject } from '../base/json/json.ts';
import { nodeLimits } from './limits.ts';
import type { NodeMessages } from './node-messages.ts';

/** Sends control requests to the programs of sessions on other nodes. Requests and responses are data of sessions. */
export interface ControlNodes {
  /** The node id in the owner text of a lease. */
  readonly nodeOf: (owner: string) => string;
  /** Undefined if the node does not respond, or does not own the session any more. */
  readonly ask: (nodeId: string, sessionId: string, control: JsonObject) => Promise<JsonObject | undefined>;
}

/** Creates the sender of control requests. */
export function createControlNodes(
  messages: Pick<NodeMessages, 'ask'>,
  nodeOf: (owner: string) => string,
): ControlNodes {
  return {
    nodeOf,
    ask: async (to, sessionId, control) => {
      const given = await messages.ask(to, { type: CONTROL, sessionId, control }, nodeLimits.controlWaitMs);
      await given?.done();
      // The cast is safe because the other node runs the same program.
      return given?.answer['outcome'] as JsonObject | undefined;
    },
  };
}

/** Handles control requests of other nodes. Other requests are passed to `others`. */
export function answerControl(
  own: (sessionId: string, control: JsonObject) => Promise<object | undefined>,
  others: (question: JsonObject, id: string) => Promise<JsonObject>,
): typeof others {
  return async (question, id) => {
    if (question['type'] !== CONTROL) return others(question, id);
    // Only `createControlNodes` sends these requests.
    const outcome = await own(question['sessionId'] as string, question['control'] as JsonObject);
    return outcome === undefined ? {} : { outcome: outcome as JsonObject };
  };
}

const CONTROL = 'control';
