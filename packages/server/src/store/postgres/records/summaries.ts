import {
  countMissing,
  findMissingSummaries,
  findSummaries,
  groupSummaries,
  listSummaries,
  SUMMARY_COLUMNS,
  SUMMARY_NAMES,
  sumSummaries,
  toSum,
  toSummary,
  toSummaryList,
  toSummaryValues,
} from '../../sql/summaries.ts';
import type { Summaries } from '../../summaries.ts';
import { allRows, type Build, firstRow } from '../build.ts';
import type { Database } from '../database.ts';

/** Summaries are read here and changed by writes, except those that older versions did not write. */
export function createSummaries(database: Database, build: Build): Summaries {
  return {
    list: async (request) => {
      const [rows, groups, missing] = await Promise.all([
        allRows(database, listSummaries(build, 'strpos', request)),
        allRows(database, groupSummaries(build, 'strpos', request)),
        firstRow(database, countMissing(build, request.workspaceId)),
      ]);
      return toSummaryList(request, rows, groups, missing);
    },
    sum: async (request) => (await allRows(database, sumSummaries(build, request))).map(toSum),
    getAll: async (workspaceId, sessionIds) => {
      if (sessionIds.length === 0) return [];
      return (await allRows(database, findSummaries(build, workspaceId, sessionIds))).map(toSummary);
    },
    findMissing: async (limit) => (await allRows(database, findMissingSummaries(build, limit))).map(({ id }) => id),
    add: async (sessionId, summary) => {
      const values = toSummaryValues(summary, JSON.stringify(summary.data));
      await database.write(ADD, [...values, sessionId]);
    },
  };
}

const GIVEN = SUMMARY_COLUMNS.split(', ').map((column, index) => {
  const [name, type] = column.split(' ');
  return name === 'created_at' ? `coalesce(created_at, $${index + 1}::${type})` : `$${index + 1}::${type}`;
});
const ADD = `
  INSERT INTO ~summaries (${SUMMARY_NAMES.join(', ')}, session_key, session_id, workspace_id)
  SELECT ${GIVEN.join(', ')}, key, id, workspace_id FROM ~sessions WHERE id = $${GIVEN.length + 1}
  ON CONFLICT DO NOTHING`;
