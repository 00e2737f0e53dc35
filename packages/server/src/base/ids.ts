import { baseLimits } from './limits.ts';

/** The prefix of an id, which is the kind of its object, as on the wire. */
export type IdPrefix =
  | 'agent'
  | 'env'
  | 'sesn'
  | 'sthr'
  | 'sevt'
  | 'sesrsc'
  | 'rule'
  | 'work'
  | 'file'
  | 'skill'
  | 'vlt'
  | 'vcrd'
  | 'vflow'
  | 'memstore'
  | 'mem'
  | 'memver'
  | 'depl'
  | 'drun'
  | 'outc'
  | 'wrkspc'
  | 'req'
  | 'page';

/** An id with the prefix of its kind, such as `sesn_…`. */
export type Id<Prefix extends IdPrefix = IdPrefix> = `${Prefix}_${string}`;

/** Time and randomness of ids, which tests replace. */
export interface IdSources {
  /** Milliseconds since 1970. */
  now: () => number;
  /** From 0 up to but not including 1, as `Math.random`. */
  random: () => number;
}

/** Makes ids that sort by their time of creation. */
export interface Ids {
  /** A new id. Without its prefix, it sorts after every id created before. */
  next<Prefix extends IdPrefix>(prefix: Prefix): Id<Prefix>;
}

/**
 * Ids that sort as text in the order of their creation: the prefix, `_01`, ten characters of time and twelve random ones.
 *
 * Within a millisecond, and while the clock is set back, the random part is incremented instead of being drawn again.
 *
 * @example
 * const ids = createIds({ now: Date.now, random: Math.random });
 * ids.next('sevt'); // sevt_0101kdvdna00w8v1yk3x2q7d
 */
export function createIds({ now, random }: IdSources): Ids {
  let time = -1;
  // 60 bits do not fit into one number, so there are two halves.
  let high = 0;
  let low = 0;
  /** Time and high half as text: they change rarely, and formatting them is most of the work. */
  let head = '';

  return {
    next: (prefix) => {
      const ms = checkTime(now());
      if (ms > time) draw(ms);
      else countUp();
      return `${prefix}_${head}${toText(low, HALF_CHARS)}`;
    },
  };

  function draw(ms: number): void {
    time = ms;
    high = drawHalf(random);
    low = drawHalf(random);
    head = toHead(time, high);
  }

  function countUp(): void {
    low++;
    if (low < HALF) return;
    // Once in a billion ids of one millisecond. When both halves are full, the time of ids moves ahead of the clock.
    if (high + 1 === HALF) return draw(checkTime(time + 1));
    low = 0;
    high++;
    head = toHead(time, high);
  }
}

/** The creation time of an id; undefined if `createIds` did not create it. */
export function timeOfId(id: string): number | undefined {
  const text = ID_FORM.exec(id)?.[1];
  return text === undefined
    ? undefined
    : Array.from(text).reduce((time, digit) => time * 32 + DIGITS.indexOf(digit), 0);
}

/** The digits of Crockford's base 32, which ASCII sorts by their value: no i, l, o and u, which are easily misread. */
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
/** The version of the format. Ids of the hosted service begin with it, too. */
const FORM = '01';
const TIME_CHARS = 10;
const HALF_CHARS = 6;
const HALF = 32 ** HALF_CHARS;
const ID_FORM = new RegExp(`_${FORM}([${DIGITS}]{${TIME_CHARS}})[${DIGITS}]{${2 * HALF_CHARS}}$`);

function toHead(time: number, high: number): string {
  return `${FORM}${toText(time, TIME_CHARS)}${toText(high, HALF_CHARS)}`;
}

function toText(value: number, chars: number): string {
  let text = '';
  let rest = value;
  for (let at = 0; at < chars; at++) {
    text = `${DIGITS[rest % 32]}${text}`;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function drawHalf(random: () => number): number {
  const half = Math.floor(random() * HALF);
  if (half >= 0 && half < HALF) return half;
  throw new RangeError('random() must give numbers from 0 up to but not including 1: pass Math.random or one like it');
}

function checkTime(ms: number): number {
  const whole = Math.floor(ms);
  if (whole >= 0 && whole <= baseLimits.idTimeMsMax) return whole;
  throw new RangeError(`now() must give milliseconds since 1970, got ${ms}: pass Date.now or one like it`);
}
