import { positionOfApproval, toPage } from '../page.ts';
import { byCreation } from '../sql/lists.ts';
import * as queries from '../sql/queries.ts';
import { toApproval, toInput, toSession, toThread } from '../sql/records.ts';
import type { Store } from '../store.ts';
import { allRows, type Build, firstRow } from './build.ts';
import type { Database } from './database.ts';

/** Sessions and what belongs to them are read here and changed by writes. */
export function createSessions(
  database: Database,
  build: Build,
): Pick<Store, 'sessions' | 'threads' | 'inputs' | 'approvals'> {
  return {
    sessions: {
      get: async (workspaceId, id) => {
        const row = await firstRow(database, queries.findSession(build, workspaceId, id));
        return row && toSession(row);
      },
      list: async (request) => {
        const rows = await allRows(database, queries.listSessions(build, request));
        return toPage('sessions', request, rows.map(toSession), byCreation);
      },
    },

    threads: {
      get: async (sessionId, id) => {
        const row = await firstRow(database, queries.findThread(build, sessionId, id));
        return row && toThread(sessionId, row);
      },
      list: async (request) => {
        const rows = await allRows(database, queries.listThreads(build, request));
        const threads = rows.map((row) => toThread(request.sessionId, row));
        return toPage('threads', request, threads, byCreation);
      },
    },

    inputs: {
      peek: async (sessionId, limit) => {
        const rows = await allRows(database, queries.peekInputs(build, sessionId, limit));
        return rows.map((row) => toInput(sessionId, row));
      },
    },

    approvals: {
      get: async (sessionId, id) => {
        const row = await firstRow(database, queries.findApproval(build, sessionId, id));
        return row && toApproval(row);
      },
      list: async (request) => {
        const rows = await allRows(database, queries.listApprovals(build, request));
        return toPage('approvals', request, rows.map(toApproval), positionOfApproval);
      },
    },
  };
}
