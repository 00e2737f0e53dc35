import { egressLimits } from './limits.ts';
import { Refusal } from './open-target.ts';

/** A placeholder, and what stands for it in this request. */
export interface Replacement {
  readonly placeholder: string;
  readonly secret: string;
  /** The credential, to count its use. */
  readonly id: string;
}

/** A changed text or body, and the credentials that were put into it. */
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
    // Node takes header values for Latin-1, and secrets may be any text.
    return replaceIn(replaceInBasic(text, replacements, used), replacements, used, toLatin1);
  });
  return { content, used: [...used.ids] };
}

/** Whether the value of a header has a placeholder, in Basic credentials too. */
export function hasPlaceholder(value: string, placeholder: string): boolean {
  return value.includes(placeholder) || readBasic(value)?.decoded.includes(placeholder) === true;
}

/** They decide where a request goes and where it ends. */
const KEPT = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'expect', 'upgrade']);

/** Replaces placeholders in a body, written as its content type writes text. Throws a {@link Refusal} if it becomes too large. */
export function replaceInBody(
  body: Buffer,
  contentType: string,
  replacements: readonly Replacement[],
): Replaced<Buffer> {
  const used = createUse(egressLimits.bodyGrowthBytesMax);
  // Byte for byte: the rest of the body may be anything.
  const text = replaceIn(body.toString('latin1'), replacements, used, toWriter(contentType));
  return used.ids.size === 0
    ? { content: body, used: [] }
    : { content: Buffer.from(text, 'latin1'), used: [...used.ids] };
}

/** The credentials that were put into a request, and how many bytes they may still add to it. */
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

/** The bytes of a text as the characters that have their numbers. */
function toLatin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function replaceIn(text: string, replacements: readonly Replacement[], use: Use, write: Writer): string {
  let changed = text;
  for (const { placeholder, secret, id } of replacements) {
    const parts = changed.split(placeholder);
    if (parts.length === 1) continue;
    const written = write(secret);
    // Before it is made: many placeholders and a long secret could be more than there is memory.
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

/** `Basic` and the base64 of a user and a password, as `curl -u` and git send it. */
function readBasic(value: string): { readonly scheme: string; readonly decoded: string } | undefined {
  const [, scheme, encoded] = /^(basic +)([a-z0-9+/]+={0,2})$/i.exec(value) ?? [];
  if (scheme === undefined || encoded === undefined) return undefined;
  return { scheme, decoded: Buffer.from(encoded, 'base64').toString('latin1') };
}
