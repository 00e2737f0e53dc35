import { storeLimits } from '../../limits.ts';
import { positionOfApproval } from '../../page.ts';
import { byCreation } from '../../sql/lists.ts';
import { firstInputs } from '../../sql/first-inputs.ts';
import { pageOfRows } from '../../sql/page-of-rows.ts';
import * as queries from '../../sql/queries.ts';
import { toApproval, toSession, toSessionId, toThread } from '../../sql/records.ts';
import type { Store } from '../../store.ts';
import { type Build, firstRow, pageRows } from '../build.ts';
import type { Database } from '../database.ts';

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
      findWorkspace: async (id) => (await firstRow(database, queries.findWorkspace(build, id)))?.workspace_id,
      list: async (request) => {
        const rows = await pageRows(database, queries.listSessions(build, withHour(request)));
        return pageOfRows('sessions', request, rows, { toRecord: toSession, positionOf: byCreation });
      },
      listChanged: async (request) => {
        const rows = await pageRows(database, queries.listChangedSessions(build, withHour(request)));
        return pageOfRows('sessions', request, rows, { toRecord: toSessionId, positionOf: byCreation });
      },
    },

    threads: {
      get: async (sessionId, id) => {
        const row = await firstRow(database, queries.findThread(build, sessionId, id));
        return row && toThread(sessionId, row);
      },
      list: async (request) => {
        const rows = await pageRows(database, queries.listThreads(build, request));
        return pageOfRows('threads', request, rows, {
          toRecord: (row) => toThread(request.sessionId, row),
          positionOf: byCreation,
        });
      },
    },

    inputs: {
      peek: async (sessionId, limit) => {
        const query = queries.peekInputs(build, sessionId, limit);
        return firstInputs(sessionId, await pageRows(database, query, storeLimits.inputsTakenBytesMax));
      },
      lastPosition: async (sessionId) => (await firstRow(database, queries.lastInput(build, sessionId)))?.position,
      bytes: async (sessionId) => {
        const query = queries.sumInputs(build, sessionId, { isJson: true });
        return (await firstRow(database, query))?.bytes ?? 0;
      },
    },

    approvals: {
      get: async (sessionId, id) => {
        const row = await firstRow(database, queries.findApproval(build, sessionId, id));
        return row && toApproval(row);
      },
      list: async (request) => {
        const rows = await pageRows(database, queries.listApprovals(build, request));
        return pageOfRows('approvals', request, rows, { toRecord: toApproval, positionOf: positionOfApproval });
      },
    },
  };
}

function withHour<Request extends { readonly updatedFrom?: number }>(request: Request) {
  const { updatedFrom } = request;
  return updatedFrom === undefined ? request : { ...request, updatedHourFrom: Math.floor(updatedFrom / HOUR_MS) };
}

/** As in the generated column. */
const HOUR_MS = 3_600_000;
