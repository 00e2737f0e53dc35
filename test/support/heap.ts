import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes that are alive now: the heap and the content of buffers outside of it. */
export function liveBytes(): number {
  for (let round = 0; round < 3; round++) collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The part of `liveBytes` in buffers. */
export function liveBufferBytes(): number {
  for (let round = 0; round < 3; round++) collect();
  return process.memoryUsage().arrayBuffers;
}
