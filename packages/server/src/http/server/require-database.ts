import { requestError } from '../../base/request-error.ts';
import type { Endpoint } from '../routing/endpoint.ts';

/** Reports whether the database of this node is reachable, as of the last check. */
export interface DatabaseWatch {
  readonly isAway: boolean;
  /** Calls the handler when the database becomes unreachable. Returns a function that removes the handler. */
  onAway(handler: () => void): () => void;
}

/**
 * Rejects requests while the database is unreachable, so that a load balancer or client can try another node at once. A read
 * that waits for the database when it becomes unreachable is rejected too; a write is not, because it may still be applied.
 */
export function requireDatabase(endpoint: Endpoint, database: DatabaseWatch): Endpoint {
  if (endpoint.isOffline === true) return endpoint;
  return {
    ...endpoint,
    handle: async (exchange, params) => {
      // The error is not logged for each request: the watch reports the outage once.
      const reject = () => exchange.refuse(requestError('database_unavailable', PROBLEM), () => {});
      if (database.isAway) return reject();
      if (endpoint.isRead !== true) return await endpoint.handle(exchange, params);
      let isRejected = false;
      const removeHandler = database.onAway(() => {
        if (exchange.outgoing.headersSent) return;
        isRejected = true;
        reject();
      });
      try {
        await endpoint.handle(exchange, params);
      } catch (error) {
        // The client has received its response; a later failure of the handler follows from the same outage.
        if (!isRejected) throw error;
      } finally {
        removeHandler();
      }
    },
  };
}

const PROBLEM = 'this server cannot reach its database';
