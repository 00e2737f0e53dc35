import { expect, it } from 'vitest';
import { storeError } from '../store/store-errors.ts';
import { toErrorAnswer } from './to-error-answer.ts';

it.each([
  ['SQLite', Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 })],
  ['PostgreSQL', Object.assign(new Error('could not extend file'), { code: '53100' })],
])('[X21] a full database is a 507 that says what to do: %s', (_name, cause) => {
  const failed = storeError('store_failed', 'the database failed', cause);
  const commit = storeError('store_failed', 'nothing of this commit was written', failed);
  for (const error of [failed, commit]) {
    const { status, body } = toErrorAnswer(error, 'req_1');
    expect([status, body.error.details]).toEqual([507, { error_code: 'storage_full' }]);
  }
});

it('[X21] another failure of the database stays a 500', () => {
  const cause = Object.assign(new Error('malformed'), { code: 'ERR_SQLITE_ERROR', errcode: 11 });
  expect(toErrorAnswer(storeError('store_failed', 'the database failed', cause), 'req_1').status).toBe(500);
});
