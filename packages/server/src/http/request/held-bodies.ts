import { heapRoom } from '../../base/heap-room.ts';
import { limits } from '../../base/limits.ts';
import { doorError } from '../door-error.ts';

/** One body while it is read and used. */
export interface HeldBody {
  /** Before it is read: gives an error where a body of this length, as far as it is known, has no room in memory. */
  admit(bytes: number): Error | undefined;
  /** Counts more of it. Gives an error where there is too much of all bodies together. */
  add(bytes: number): Error | undefined;
  release(): void;
}

/** Bytes of bodies whose requests are not over, of this process, by key. Many requests at once would fill the memory. */
const heldByKey = new Map<string, number>();
let heldByAll = 0;

export function holdBody(key: string): HeldBody {
  let own = 0;
  let admitted = 0;
  const admit = (bytes: number) => {
    admitted = Math.max(bytes, limits.largeBodyBytes);
    if (bytes < limits.largeBodyBytes) return undefined;
    const needed = limits.bodyHeapFactor * (heldByAll - own + bytes);
    return needed > heapRoom() ? outOfMemory(bytes) : undefined;
  };
  return {
    admit,
    add: (bytes) => {
      own += bytes;
      heldByAll += bytes;
      const ofKey = (heldByKey.get(key) ?? 0) + bytes;
      heldByKey.set(key, ofKey);
      const { bodiesPerKeyBytesMax, bodiesBytesMax } = limits;
      if (ofKey > bodiesPerKeyBytesMax) return tooMuch(`bodies of this key have more than ${bodiesPerKeyBytesMax}`);
      if (heldByAll > bodiesBytesMax) return tooMuch(`bodies of all keys have more than ${bodiesBytesMax}`);
      // One whose length is not known is looked at again whenever it has doubled.
      return own > admitted ? admit(2 * own) : undefined;
    },
    release: () => {
      heldByAll -= own;
      const rest = (heldByKey.get(key) ?? 0) - own;
      if (rest > 0) heldByKey.set(key, rest);
      else heldByKey.delete(key);
      own = 0;
    },
  };
}

function outOfMemory(bytes: number): Error {
  const problem = `the server has too little memory free for a body of ${bytes} bytes`;
  return doorError('out_of_resources', problem, { retryAfterSeconds: 1 });
}

function tooMuch(problem: string): Error {
  const advice = 'wait until other requests are done, or send less at a time';
  return doorError('rate_limited', `the ${problem} bytes under way`, { advice, retryAfterSeconds: 1 });
}
