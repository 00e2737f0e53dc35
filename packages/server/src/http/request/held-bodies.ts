import { heapRoom } from '../../base/process/heap-room.ts';
import { httpLimits } from '../limits.ts';
import { requestError } from '../../base/request-error.ts';

/** One body while it is read and used. */
export interface HeldBody {
  /** Called before reading. Returns an error if there is not enough memory for a body of this length. */
  admit(bytes: number): Error | undefined;
  /** Counts received bytes. Returns an error if all bodies together exceed their limit. */
  add(bytes: number): Error | undefined;
  release(): void;
}

/** Bytes of the bodies of open requests of this process, by key. Many requests at once would fill the memory. */
const heldByKey = new Map<string, number>();
let heldByAll = 0;

/** Starts to count the body of a request for a key. */
export function holdBody(key: string): HeldBody {
  let own = 0;
  let admitted = 0;
  const admit = (bytes: number) => {
    admitted = Math.max(bytes, httpLimits.largeBodyBytes);
    if (bytes < httpLimits.largeBodyBytes) return undefined;
    const needed = httpLimits.bodyHeapFactor * (heldByAll - own + bytes);
    return needed > heapRoom() ? outOfMemory(bytes) : undefined;
  };
  return {
    admit,
    add: (bytes) => {
      own += bytes;
      heldByAll += bytes;
      const ofKey = (heldByKey.get(key) ?? 0) + bytes;
      heldByKey.set(key, ofKey);
      const { bodiesPerKeyBytesMax, bodiesBytesMax } = httpLimits;
      if (ofKey > bodiesPerKeyBytesMax) return tooMuch(`bodies of this key have more than ${bodiesPerKeyBytesMax}`);
      if (heldByAll > bodiesBytesMax) return tooMuch(`bodies of all keys have more than ${bodiesBytesMax}`);
      // A body of unknown length is checked again whenever it has doubled.
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
  return requestError('out_of_resources', problem, { retryAfterSeconds: 1 });
}

function tooMuch(problem: string): Error {
  const advice = 'wait until other requests are done, or send less at a time';
  return requestError('rate_limited', `the ${problem} bytes under way`, { advice, retryAfterSeconds: 1 });
}
