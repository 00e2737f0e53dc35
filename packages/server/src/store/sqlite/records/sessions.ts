import { positionOfApproval } from '../../page.ts';
import { byCreation } from '../../sql/lists.ts';
import { firstInputs } from '../../sql/first-inputs.ts';
import { pageOfRows } from '../../sql/page-of-rows.ts';
import * as queries from '../../sql/queries.ts';
import { toApproval, toSession, toSessionId, toThread } from '../../sql/records.ts';
import type { Store } from '../../store.ts';
import { build, builtOnce, eachRow, firstRow } from '../build.ts';
import type { Database } from '../database.ts';

/** Sessions and what belongs to them are read here and changed by writes. */
export function createSessions(database: Database): Pick<Store, 'sessions' | 'threads' | 'inputs' | 'approvals'> {
  return {
    sessions: {
      get: async (workspaceId, id) => {
        const row = firstRow(database, findSession(workspaceId, id));
        return row && toSession(row);
      },
      findWorkspace: async (id) => firstRow(database, findWorkspace(id))?.workspace_id,
      list: async (request) => {
        const rows = eachRow(database, queries.listSessions(build, request));
        return pageOfRows('sessions', request, rows, { toRecord: toSession, positionOf: byCreation });
      },
      listChanged: async (request) => {
        const rows = eachRow(database, queries.listChangedSessions(build, request));
        return pageOfRows('sessions', request, rows, { toRecord: toSessionId, positionOf: byCreation });
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
      peek: async (sessionId, limit) => firstInputs(sessionId, eachRow(database, peekInputs(sessionId, limit))),
      lastPosition: async (sessionId) => firstRow(database, queries.lastInput(build, sessionId))?.position,
      bytes: async (sessionId) => firstRow(database, sumInputs(sessionId))?.bytes ?? 0,
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

// These run with every message and every request.
const findSession = builtOnce((workspaceId: string, id: string) => queries.findSession(build, workspaceId, id));
const findWorkspace = builtOnce((id: string) => queries.findWorkspace(build, id));
const peekInputs = builtOnce((sessionId: string, limit: number) => queries.peekInputs(build, sessionId, limit));
const sumInputs = builtOnce((sessionId: string) => queries.sumInputs(build, sessionId, { isJson: false }));
