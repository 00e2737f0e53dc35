import type { CapturedResponse } from '@fleetloom/protocol/managed-agents';
import type { ReceivedResponse } from './send-request.ts';
import { vaultLimits } from './limits.ts';

/** A response to show to people: secrets are redacted, and a long body is truncated. */
export function captureResponse(
  { status, headers, body, isTruncated }: ReceivedResponse,
  secrets: readonly (string | undefined)[],
): CapturedResponse {
  const type = headers['content-type'];
  const known = secrets.flatMap((secret = '') => (secret.length < SECRET_CHARS_MIN ? [] : [secret]));
  // Redacts before truncating, so that no part of a secret is left at the end.
  const whole = redact(body, known);
  const longest = Math.max(0, ...known.map(({ length }) => length)) * ESCAPE_CHARS_MAX;
  const clean = isTruncated ? whole.slice(0, Math.max(0, whole.length - longest)) : whole;
  const bytes = Buffer.from(clean);
  const isCut = bytes.length > vaultLimits.capturedBytesMax;
  return {
    status_code: status,
    content_type: redact(typeof type === 'string' ? type : '', known),
    body: isCut ? cutBytes(bytes) : clean,
    body_truncated: isTruncated || isCut,
  };
}

/** Replaces secrets, including their escaped, percent-encoded and base64 forms. */
function redact(text: string, secrets: readonly string[]): string {
  const { plain, starts, ends } = decode(text);
  const found = secrets.flatMap((secret) => {
    const bytes = Buffer.from(secret);
    const forms = [secret, JSON.stringify(secret).slice(1, -1), bytes.toString('base64'), bytes.toString('base64url')];
    return [
      ...forms.flatMap((form) => findAll(text, form)),
      ...findAll(plain, secret).map(({ start, end }) => ({ start: starts[start]!, end: ends[end - 1]! })),
    ];
  });
  let [clean, from] = ['', 0];
  for (const { start, end } of found.sort((a, b) => a.start - b.start)) {
    if (start >= from) clean += `${text.slice(from, start)}[redacted]`;
    from = Math.max(from, end);
  }
  return clean + text.slice(from);
}

interface Part {
  readonly start: number;
  readonly end: number;
}

function findAll(text: string, form: string): readonly Part[] {
  const found: Part[] = [];
  for (let start = text.indexOf(form); start !== -1; ) {
    found.push({ start, end: start + form.length });
    start = text.indexOf(form, start + form.length);
  }
  return found;
}

/** The text with escapes of JSON, URLs and HTML decoded, and the position of each of its characters in the original. */
function decode(text: string): { plain: string; starts: readonly number[]; ends: readonly number[] } {
  const [starts, ends]: [number[], number[]] = [[], []];
  let [plain, from] = ['', 0];
  const add = (part: string, start: number, end?: number): void => {
    plain += part;
    for (let at = 0; at < part.length; at++) {
      starts.push(end === undefined ? start + at : start);
      ends.push(end ?? start + at + 1);
    }
  };
  for (const match of text.matchAll(ESCAPE)) {
    const end = match.index + match[0].length;
    add(text.slice(from, match.index), from);
    add(decodeOne(match[0]), match.index, end);
    from = end;
  }
  add(text.slice(from), from);
  return { plain, starts, ends };
}

/** One escape. Consecutive percent-encoded bytes beyond ASCII match as a whole, because together they encode one or more characters. */
const ESCAPE =
  /\\u[0-9a-f]{4}|\\["\\/]|%[0-7][0-9a-f]|(?:%[89a-f][0-9a-f])+|&#(?:\d{1,6}|x[0-9a-f]{1,5});|&(?:amp|lt|gt|quot|apos);/gi;
/** The length of the longest escape of one character: three percent-encoded bytes. */
const ESCAPE_CHARS_MAX = 9;

function decodeOne(escape: string): string {
  if (escape.startsWith('%')) return Buffer.from(escape.replaceAll('%', ''), 'hex').toString();
  if (/^&#x/i.test(escape)) return String.fromCodePoint(Number.parseInt(escape.slice(3, -1), 16));
  if (escape.startsWith('&#')) return String.fromCodePoint(Number(escape.slice(2, -1)));
  if (escape.startsWith('&')) return NAMED[escape.slice(1, -1).toLowerCase()]!;
  return escape.length === 2 ? escape[1]! : String.fromCharCode(Number.parseInt(escape.slice(2), 16));
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Shorter secrets are not redacted: they would match in any text. */
const SECRET_CHARS_MIN = 4;

function cutBytes(bytes: Buffer): string {
  let end: number = vaultLimits.capturedBytesMax;
  // Does not cut within a character.
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}
