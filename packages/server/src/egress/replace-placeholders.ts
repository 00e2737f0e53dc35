import { egressLimits } from './limits.ts';
import { Refusal } from './open-target.ts';

/** A placeholder, and the secret that replaces it in this request. */
export interface Replacement {
  readonly placeholder: string;
  readonly secret: string;
  /** The id of the credential, to count its use. */
  readonly id: string;
}

/** Headers or a body after the replacement, and the ids of the credentials that were inserted. */
export interface Replaced<Content> {
  readonly content: Content;
  readonly used: readonly string[];
}

/**
 * Replaces placeholders in the values of headers, in Basic credentials too, and never in names. Throws a {@link Refusal} if the headers
 * become too large.
 */
export function replaceInHeaders(raw: readonly string[], replacements: readonly Replacement[]): Replaced<string[]> {
  const used = createUse(egressLimits.headerGrowthBytesMax);
  const content = raw.map((text, at) => {
    const isValue = at % 2 === 1;
    if (!isValue || KEPT.has(raw[at - 1]!.toLowerCase())) return text;
    // Node encodes header values as Latin-1, and a secret may be any text.
    return replaceIn(replaceInBasic(text, replacements, used), replacements, used, toLatin1);
  });
  return { content, used: [...used.ids] };
}

/** Whether the value of a header has a placeholder, in Basic credentials too. */
export function hasPlaceholder(value: string, placeholder: string): boolean {
  return value.includes(placeholder) || readBasic(value)?.decoded.includes(placeholder) === true;
}

/** Headers without replacements, because they determine the destination and the end of a request. */
const KEPT = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'expect', 'upgrade']);

/** Replaces placeholders in a body by secrets, escaped as its content type requires. Throws a {@link Refusal} if the body becomes too large. */
export function replaceInBody(
  body: Buffer,
  contentType: string,
  replacements: readonly Replacement[],
): Replaced<Buffer> {
  const used = createUse(egressLimits.bodyGrowthBytesMax);
  // One character for each byte, so that any bytes in the rest of the body stay unchanged.
  const text = replaceIn(body.toString('latin1'), replacements, used, toWriter(contentType));
  return used.ids.size === 0
    ? { content: body, used: [] }
    : { content: Buffer.from(text, 'latin1'), used: [...used.ids] };
}

/** The credentials that were inserted into a request, and the number of bytes that they may still add. */
interface Use {
  readonly ids: Set<string>;
  bytesLeft: number;
}

function createUse(bytesLeft: number): Use {
  return { ids: new Set(), bytesLeft };
}

type Writer = (secret: string) => string;

function toWriter(contentType: string): Writer {
  const [type = ''] = contentType.toLowerCase().split(';');
  if (/[/+]json$|ndjson|json-seq/.test(type.trim())) return (secret) => toLatin1(JSON.stringify(secret).slice(1, -1));
  if (type.trim() === 'application/x-www-form-urlencoded') return (secret) => encodeURIComponent(secret);
  return toLatin1;
}

/** The UTF-8 bytes of a text, one character for each byte. */
function toLatin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function replaceIn(text: string, replacements: readonly Replacement[], use: Use, write: Writer): string {
  let changed = text;
  for (const { placeholder, secret, id } of replacements) {
    const parts = changed.split(placeholder);
    if (parts.length === 1) continue;
    const written = write(secret);
    // Checked before the text is built: many placeholders of a long secret could exhaust the memory.
    use.bytesLeft -= Math.max(0, (parts.length - 1) * (written.length - placeholder.length));
    if (use.bytesLeft < 0) {
      throw new Refusal('request_not_understood', 'the request has too many placeholders of a long secret', 413);
    }
    use.ids.add(id);
    changed = parts.join(written);
  }
  return changed;
}

function replaceInBasic(value: string, replacements: readonly Replacement[], use: Use): string {
  const basic = readBasic(value);
  if (basic === undefined) return value;
  const changed = replaceIn(basic.decoded, replacements, use, toLatin1);
  return changed === basic.decoded ? value : `${basic.scheme}${Buffer.from(changed, 'latin1').toString('base64')}`;
}

/** Decodes a `Basic` credential: the base64 of a user and a password, as `curl -u` and git send it. */
function readBasic(value: string): { readonly scheme: string; readonly decoded: string } | undefined {
  const [, scheme, encoded] = /^(basic +)([a-z0-9+/]+={0,2})$/i.exec(value) ?? [];
  if (scheme === undefined || encoded === undefined) return undefined;
  return { scheme, decoded: Buffer.from(encoded, 'base64').toString('latin1') };
}
