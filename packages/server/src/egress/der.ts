// The part of DER (X.690) that certificates are made of.

/** A value with its tag and length. */
export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), toLength(content.length), content]);
}

export const sequence = (...contents: readonly Uint8Array[]): Buffer => der(0x30, ...contents);
export const set = (...contents: readonly Uint8Array[]): Buffer => der(0x31, ...contents);
export const octets = (...contents: readonly Uint8Array[]): Buffer => der(0x04, ...contents);
export const bits = (bytes: Uint8Array, unused = 0): Buffer => der(0x03, Buffer.from([unused]), bytes);
export const text = (value: string): Buffer => der(0x0c, Buffer.from(value));
export const truth = (): Buffer => der(0x01, Buffer.from([0xff]));

/** A number that is not negative, from its bytes. */
export function integer(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first === -1 ? Buffer.from([0]) : Buffer.from(bytes.subarray(first));
  return der(0x02, digits[0]! >= 0x80 ? Buffer.concat([Buffer.from([0]), digits]) : digits);
}

/** An object identifier such as `2.5.29.17`. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(toBase128)]));
}

/** A time until 2049. */
export function utcTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\.\d+/, '').replaceAll(/[-:T]/g, '');
  return der(0x17, Buffer.from(digits.slice(2)));
}

function toLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.from([0x80 + bytes.length]), bytes]);
}

function toBase128(value: number): number[] {
  const digits = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift((rest % 128) + 128);
  return digits;
}
