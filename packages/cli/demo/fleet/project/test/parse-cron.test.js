import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCron } from '../src/parse-cron.js';

test('a step is read', () => {
  assert.deepEqual(parseCron('*/5 * * * *').minute, { step: 5 });
});
