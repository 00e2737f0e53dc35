import {
  countMissing,
  findMissingSummaries,
  findSummaries,
  groupSummaries,
  listSummaries,
  SUMMARY_NAMES,
  sumSummaries,
  toSum,
  toSummary,
  toSummaryList,
  toSummaryValues,
} from '../../sql/summaries.ts';
import type { Summaries } from '../../summaries.ts';
import { build, eachRow, firstRow } from '../build.ts';
import type { Database } from '../database.ts';

/** Summaries are read here and changed by writes, except those that older versions did not write. */
export function createSummaries(database: Database): Summaries {
  return {
    list: async (request) => {
      const rows = [...eachRow(database, listSummaries(build, 'instr', request))];
      const groups = [...eachRow(database, groupSummaries(build, 'instr', request))];
      return toSummaryList(request, rows, groups, firstRow(database, countMissing(build, request.workspaceId)));
    },
    sum: async (request) => Array.from(eachRow(database, sumSummaries(build, request)), toSum),
    getAll: async (workspaceId, sessionIds) =>
      sessionIds.length === 0
        ? []
        : Array.from(eachRow(database, findSummaries(build, workspaceId, sessionIds)), toSummary),
    findMissing: async (limit) => Array.from(eachRow(database, findMissingSummaries(build, limit)), ({ id }) => id),
    add: async (sessionId, summary) => {
      const values = toSummaryValues(summary, JSON.stringify(summary.data));
      database.transaction(() => database.prepare(ADD).run(...values, sessionId));
    },
  };
}

const ADD = `
  INSERT INTO summaries (${SUMMARY_NAMES.join(', ')}, session_key, session_id, workspace_id)
  SELECT ${SUMMARY_NAMES.map((name) => (name === 'created_at' ? 'coalesce(created_at, ?)' : '?')).join(', ')},
    key, id, workspace_id
  FROM sessions WHERE id = ?
  ON CONFLICT DO NOTHING`;
