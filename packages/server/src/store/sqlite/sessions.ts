import { positionOfApproval } from '../page.ts';
import { byCreation } from '../sql/lists.ts';
import { pageOfRows } from '../sql/page-of-rows.ts';
import * as queries from '../sql/queries.ts';
import { toApproval, toInput, toSession, toThread } from '../sql/records.ts';
import type { Store } from '../store.ts';
import { allRows, build, eachRow, firstRow } from './build.ts';
import type { Database } from './database.ts';

/** Sessions and what belongs to them are read here and changed by writes. */
export function createSessions(database: Database): Pick<Store, 'sessions' | 'threads' | 'inputs' | 'approvals'> {
  return {
    sessions: {
      get: async (workspaceId, id) => {
        const row = firstRow(database, queries.findSession(build, workspaceId, id));
        return row && toSession(row);
      },
      list: async (request) => {
        const rows = eachRow(database, queries.listSessions(build, request));
        return pageOfRows('sessions', request, rows, { toRecord: toSession, positionOf: byCreation });
      },
    },

    threads: {
      get: async (sessionId, id) => {
        const row = firstRow(database, queries.findThread(build, sessionId, id));
        return row && toThread(sessionId, row);
      },
      list: async (request) => {
        const rows = eachRow(database, queries.listThreads(build, request));
        return pageOfRows('threads', request, rows, {
          toRecord: (row) => toThread(request.sessionId, row),
          positionOf: byCreation,
        });
      },
    },

    inputs: {
      peek: async (sessionId, limit) => {
        const rows = allRows(database, queries.peekInputs(build, sessionId, limit));
        return rows.map((row) => toInput(sessionId, row));
      },
    },

    approvals: {
      get: async (sessionId, id) => {
        const row = firstRow(database, queries.findApproval(build, sessionId, id));
        return row && toApproval(row);
      },
      list: async (request) => {
        const rows = eachRow(database, queries.listApprovals(build, request));
        return pageOfRows('approvals', request, rows, { toRecord: toApproval, positionOf: positionOfApproval });
      },
    },
  };
}
