import { randomBytes } from 'node:crypto';

/**
 * Creates ids of messages in opencode's form. They grow with time: opencode orders messages by their ids, and treats a message
 * as answered if its id is smaller than the id of the newest response.
 */
export function createMessageIds(now: () => number): () => string {
  let last = 0n;
  return () => {
    const wanted = BigInt(now()) * TICKS;
    last = wanted > last ? wanted : last + 1n;
    const time = (last & TIME_MASK).toString(16).padStart(TIME_DIGITS, '0');
    return `msg_${time}${randomText()}`;
  };
}

/** Number of ids in one millisecond. */
const TICKS = 0x1000n;
/** opencode keeps the lower 48 bits of the time. */
const TIME_MASK = 0xffff_ffff_ffffn;
const TIME_DIGITS = 12;

function randomText(): string {
  return [...randomBytes(RANDOM_CHARS)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

const RANDOM_CHARS = 14;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
