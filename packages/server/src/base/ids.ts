import { baseLimits } from './limits.ts';

/** What an id belongs to, in the words of the wire. */
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
  /** A new id. What follows its prefix sorts after that of every id made before, whatever their prefixes. */
  next<Prefix extends IdPrefix>(prefix: Prefix): Id<Prefix>;
}

/**
 * Ids that sort as text in the order of their making: the prefix, `_01`, ten characters of time and twelve of chance.
 *
 * Within a millisecond, and while the clock is set back, the chance part counts up instead of being drawn again.
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
  /** Time and high half as text: they change rarely, and the text is most of the work. */
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
    // Once in a billion ids of one millisecond. When both halves are full the time moves on ahead of the clock.
    if (high + 1 === HALF) return draw(checkTime(time + 1));
    low = 0;
    high++;
    head = toHead(time, high);
  }
}

/** When an id was made; undefined if it is not one of ours. */
export function timeOfId(id: string): number | undefined {
  const text = ID_FORM.exec(id)?.[1];
  return text === undefined
    ? undefined
    : Array.from(text).reduce((time, digit) => time * 32 + DIGITS.indexOf(digit), 0);
}

/** The digits of Crockford's base 32, which ASCII sorts by their value: no i, l, o and u, which are easily misread. */
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
/** Which form of id this is. The services whose wire we speak begin theirs with it too. */
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
