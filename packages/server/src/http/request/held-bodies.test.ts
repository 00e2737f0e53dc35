import { getHeapStatistics } from 'node:v8';
import { afterEach, expect, it } from 'vitest';
import { atMostOfHeap, heapRoom } from '../../base/process/heap-room.ts';
import { baseLimits } from '../../base/limits.ts';
import { httpLimits } from '../limits.ts';
import { toolLimits } from '../../tools/limits.ts';
import { type HeldBody, holdBody } from './held-bodies.ts';

const bodies: HeldBody[] = [];

function hold(): HeldBody {
  const body = holdBody('key_1');
  bodies.push(body);
  return body;
}

afterEach(() => {
  for (const body of bodies.splice(0)) body.release();
});

it('[X23] a body is refused when it needs more room than the heap has, and a small one never is', () => {
  const fitting = Math.floor(heapRoom() / httpLimits.bodyHeapFactor);
  expect(hold().admit(Math.floor(fitting * 0.9))).toBe(undefined);
  expect(hold().admit(Math.ceil(fitting * 1.1))).toMatchObject({ code: 'out_of_resources', retryAfterSeconds: 1 });
  expect([httpLimits.largeBodyBytes, httpLimits.bodyHeapFactor, baseLimits.heapShareMax]).toEqual([16_384, 6, 0.7]);
  expect(baseLimits.heapShortShare).toBe(0.2);
});

it('[X23] bodies under way count until they are released', () => {
  const fitting = Math.floor(heapRoom() / httpLimits.bodyHeapFactor);
  const first = hold();
  const bytes = Math.min(Math.floor(fitting * 0.9), httpLimits.bodiesPerKeyBytesMax - 1);
  expect(first.add(bytes)).toBe(undefined);
  expect(hold().admit(Math.ceil(fitting * 1.1) - bytes)).toMatchObject({ code: 'out_of_resources' });
  expect(hold().admit(httpLimits.largeBodyBytes - 1)).toBe(undefined);
  first.release();
  expect(hold().admit(Math.min(bytes, Math.ceil(fitting * 0.5)))).toBe(undefined);
});

it('[X23] limits in bytes are at most a share of the heap', () => {
  const most = getHeapStatistics().heap_size_limit;
  expect(atMostOfHeap(10, toolLimits.mcpHeldHeapShare)).toBe(10);
  expect(atMostOfHeap(Number.MAX_SAFE_INTEGER, toolLimits.mcpHeldHeapShare)).toBe(most / 16);
});
