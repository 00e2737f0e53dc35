import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryDelay } from '../src/retry.js';

test('the wait doubles', () => {
  assert.equal(retryDelay(2) / retryDelay(1), 2);
});
