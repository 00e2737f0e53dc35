import { expect, it } from 'vitest';
import { DatabaseFailure, toFailure, toUnreachable } from '../store/postgres/database-failure.ts';
import { storeError } from '../store/store-errors.ts';
import { toErrorAnswer } from '../http/response/to-error-answer.ts';

it.each([
  ['SQLite', Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 })],
  ['SQLite, by a quota', Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 778 })],
  ['PostgreSQL', Object.assign(new Error('could not extend file'), { code: '53100' })],
])('[X21] a full database is a 507 that states what to do: %s', (_name, cause) => {
  const failed = storeError('store_failed', 'the database failed', cause);
  const commit = storeError('store_failed', 'nothing of this commit was written', failed);
  for (const error of [failed, commit]) {
    const { status, body } = toErrorAnswer(error, 'req_1');
    expect([status, body.error.details]).toEqual([507, { error_code: 'storage_full' }]);
  }
});

it.each([
  ['a lost connection', new DatabaseFailure(new Error('Connection terminated'), 'lost')],
  ['no connection', toUnreachable(new Error('connect ECONNREFUSED'))],
  ['too many connections', toFailure(postgresError('53300'))],
  ['a lock that was not released', toFailure(postgresError('55P03'))],
  ['a statement that took too long', toFailure(postgresError('57014'))],
])('[P91] a database that cannot be reached is a 503 with retry-after: %s', (_name, cause) => {
  const failed = storeError('store_failed', 'the database failed', cause);
  const commit = storeError('store_failed', 'nothing of this commit was written', failed);
  const behind = storeError('write_skipped', 'the write before it was refused', commit);
  for (const error of [failed, commit, behind]) {
    const { status, body, headers } = toErrorAnswer(error, 'req_1');
    expect([status, headers, body.error.details]).toEqual([
      503,
      { 'retry-after': '1' },
      { error_code: 'database_unavailable' },
    ]);
  }
});

it('[P91] a statement that the database rejects stays a 500', () => {
  for (const code of ['42601', '22P02']) {
    const error = storeError('store_failed', 'the database failed', toFailure(postgresError(code)));
    expect(toErrorAnswer(error, 'req_1').status).toBe(500);
  }
});

function postgresError(code: string): Error {
  return Object.assign(new Error('refused'), { code, severity: 'ERROR' });
}

it('[X21] another failure of the database stays a 500', () => {
  // A malformed file, and a read that failed (SQLITE_IOERR_READ).
  for (const errcode of [11, 266]) {
    const cause = Object.assign(new Error('failed'), { code: 'ERR_SQLITE_ERROR', errcode });
    expect(toErrorAnswer(storeError('store_failed', 'the database failed', cause), 'req_1').status).toBe(500);
  }
});
