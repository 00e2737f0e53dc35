import { randomUUID } from 'node:crypto';
import { ignoringFailure, inBackground } from '../base/in-background.ts';
import type { JsonObject } from '../base/json/json.ts';
import { nodeLimits } from './limits.ts';
import type { Schedule } from '../base/schedule.ts';
import type { Store } from '../store/store.ts';

/**
 * Requests from one node to another for data that only the other node has: files on its disk, or the current state of its sessions.
 * They go through the store, so nodes need no connection to each other, and each node polls for them.
 */
export interface NodeMessages {
  /** Sends a request and waits for the response; undefined if the other node does not respond in time. */
  ask(
    nodeId: string,
    question: JsonObject,
    waitMs?: number,
  ): Promise<{ readonly answer: JsonObject; done(): Promise<void> } | undefined>;
  /** Starts to answer the requests to this node. An error of `answer` is sent as `{ failed: true }`. */
  start(answer: (question: JsonObject, id: string) => Promise<JsonObject>): void;
  close(): void;
}

/** The dependencies of the message exchange of a node. */
export interface NodeMessagesOptions {
  readonly store: Pick<Store, 'documents'>;
  readonly nodeId: string;
  readonly schedule: Schedule;
  readonly onProblem: (problem: unknown) => void;
  readonly waitMs?: number | undefined;
}

/** Creates the message exchange of one node. */
export function createNodeMessages(options: NodeMessagesOptions): NodeMessages {
  const { store, nodeId, schedule, onProblem, waitMs = nodeLimits.nodeMessageWaitMs } = options;
  const { documents } = store;
  const answering = new Set<string>();
  let cancel = () => {};
  let isClosed = false;

  return {
    ask: async (to, question, patienceMs = waitMs) => {
      const id = randomUUID();
      await documents.put({ kind: kindOf(to), id, data: question });
      let isOver = false;
      const cancelEnd = schedule(() => (isOver = true), patienceMs);
      try {
        for (let delayMs = 20; ; delayMs = Math.min(delayMs * 2, nodeLimits.nodeMessagePollMs)) {
          const found = await documents.get(NODE_ANSWER, id);
          if (found !== undefined) return { answer: found.data, done: () => documents.delete(NODE_ANSWER, id) };
          if (isOver || isClosed) break;
          await new Promise<void>((resolve) => void schedule(resolve, delayMs));
        }
      } finally {
        cancelEnd();
      }
      await documents.delete(kindOf(to), id);
      return undefined;
    },
    start: (answer) => pollLater(answer),
    close: () => {
      isClosed = true;
      cancel();
    },
  };

  function pollLater(answer: (question: JsonObject, id: string) => Promise<JsonObject>): void {
    if (isClosed) return;
    cancel = schedule(
      // Callers that need the store report that it is unavailable.
      () => ignoringFailure(poll(answer).finally(() => pollLater(answer))),
      nodeLimits.nodeMessagePollMs,
    );
  }

  async function poll(answer: (question: JsonObject, id: string) => Promise<JsonObject>): Promise<void> {
    const { items } = await documents.list({ kind: kindOf(nodeId), order: 'asc', limit: nodeLimits.nodeMessagesMax });
    for (const { id, data } of items) {
      if (answering.has(id)) continue;
      answering.add(id);
      // Runs in the background: a large file takes long, and other requests must not wait for it.
      inBackground(
        give(id, answer(data, id)).finally(() => answering.delete(id)),
        onProblem,
      );
    }
  }

  async function give(id: string, answering: Promise<JsonObject>): Promise<void> {
    const data = await answering.catch((problem: unknown) => {
      onProblem(problem);
      return { failed: true };
    });
    await documents.put({ kind: NODE_ANSWER, id, data });
    await documents.delete(kindOf(nodeId), id);
  }
}

function kindOf(nodeId: string): string {
  return `node_question ${nodeId}`;
}

/** The document kind of answers, as stored. */
export const NODE_ANSWER = 'node_answer';
