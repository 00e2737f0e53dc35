import { getHeapStatistics } from 'node:v8';
import { baseLimits } from '../limits.ts';

/** Bytes that can be allocated before the heap is so full that the process is at risk: V8 ends a process at its limit. */
export function heapRoom(): number {
  const { used_heap_size: used, heap_size_limit: most } = getHeapStatistics();
  return most * baseLimits.heapShareMax - used;
}

/** Whether caches should be released. */
export function isHeapShort(): boolean {
  return heapRoom() < getHeapStatistics().heap_size_limit * baseLimits.heapShortShare;
}

/** A limit in bytes, or a share of the heap where that is smaller. */
export function atMostOfHeap(bytes: number, share: number): number {
  return Math.min(bytes, HEAP_BYTES_MAX * share);
}

/** Read once: the limit does not change while the process runs. */
const HEAP_BYTES_MAX = getHeapStatistics().heap_size_limit;
