import type { JsonObject } from '../base/json/json.ts';
import { nodeLimits } from './limits.ts';
import type { NodeMessages } from './node-messages.ts';

/** The nodes of a store, as a node that asks the program of a session sees them. What is asked and answered is data of sessions. */
export interface ControlNodes {
  /** How the owner of a lease is called. */
  readonly nodeOf: (owner: string) => string;
  /** Undefined if it does not answer, or does not own the session any more. */
  readonly ask: (nodeId: string, sessionId: string, control: JsonObject) => Promise<JsonObject | undefined>;
}

/** How the nodes of a store ask the programs of each other's sessions. */
export function createControlNodes(
  messages: Pick<NodeMessages, 'ask'>,
  nodeOf: (owner: string) => string,
): ControlNodes {
  return {
    nodeOf,
    ask: async (to, sessionId, control) => {
      const given = await messages.ask(to, { type: CONTROL, sessionId, control }, nodeLimits.controlWaitMs);
      await given?.done();
      // The other side is the same program.
      return given?.answer['outcome'] as JsonObject | undefined;
    },
  };
}

/** The other side. What is asked for besides is answered by `others`. */
export function answerControl(
  own: (sessionId: string, control: JsonObject) => Promise<object | undefined>,
  others: (question: JsonObject, id: string) => Promise<JsonObject>,
): typeof others {
  return async (question, id) => {
    if (question['type'] !== CONTROL) return others(question, id);
    // Only `createControlNodes` asks.
    const outcome = await own(question['sessionId'] as string, question['control'] as JsonObject);
    return outcome === undefined ? {} : { outcome: outcome as JsonObject };
  };
}

const CONTROL = 'control';
