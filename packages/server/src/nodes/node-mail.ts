import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import type { Schedule } from '../base/schedule.ts';
import type { Store } from '../store/store.ts';

/**
 * What one node asks another for that only that one has: files on its disk, or what its sessions do at this moment. It
 * goes through the store, so nodes need not reach each other, and each looks often enough for what is rarely asked.
 */
export interface NodeMail {
  /** Undefined if the other one does not answer in time. */
  ask(
    nodeId: string,
    question: JsonObject,
    waitMs?: number,
  ): Promise<{ readonly answer: JsonObject; done(): Promise<void> } | undefined>;
  /** What this node answers. What it throws is an answer too. */
  start(answer: (question: JsonObject, id: string) => Promise<JsonObject>): void;
  close(): void;
}

export interface NodeMailOptions {
  readonly store: Pick<Store, 'documents'>;
  readonly nodeId: string;
  readonly schedule: Schedule;
  readonly onProblem: (problem: unknown) => void;
  readonly waitMs?: number | undefined;
}

export function createNodeMail(options: NodeMailOptions): NodeMail {
  const { store, nodeId, schedule, onProblem, waitMs = limits.nodeMailWaitMs } = options;
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
        for (let delayMs = 20; ; delayMs = Math.min(delayMs * 2, limits.nodeMailLookMs)) {
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
    start: (answer) => lookLater(answer),
    close: () => {
      isClosed = true;
      cancel();
    },
  };

  function lookLater(answer: (question: JsonObject, id: string) => Promise<JsonObject>): void {
    if (isClosed) return;
    cancel = schedule(
      () =>
        void look(answer)
          .catch(() => {})
          .finally(() => lookLater(answer)),
      limits.nodeMailLookMs,
    );
  }

  /** That the store is away is said by others, who need it more. */
  async function look(answer: (question: JsonObject, id: string) => Promise<JsonObject>): Promise<void> {
    const { items } = await documents.list({ kind: kindOf(nodeId), order: 'asc', limit: limits.nodeMailsMax });
    for (const { id, data } of items) {
      if (answering.has(id)) continue;
      answering.add(id);
      // A large file takes its time, and others are not to wait for it.
      void give(id, answer(data, id))
        .catch(onProblem)
        .finally(() => answering.delete(id));
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

export const NODE_ANSWER = 'node_answer';
