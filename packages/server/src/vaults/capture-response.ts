import type { CapturedResponse } from '@fleetloom/protocol/managed-agents';
import type { ReceivedResponse } from './send-request.ts';
import { vaultLimits } from './limits.ts';

/** A response for people: without secrets, and cut where it is long. */
export function captureResponse(
  { status, headers, body, isTruncated }: ReceivedResponse,
  secrets: readonly (string | undefined)[],
): CapturedResponse {
  const type = headers['content-type'];
  // Before it is cut, so that no part of a secret is left at the end.
  const clean = redact(body, secrets);
  const bytes = Buffer.from(clean);
  const isCut = bytes.length > vaultLimits.capturedBytesMax;
  return {
    status_code: status,
    content_type: redact(typeof type === 'string' ? type : '', secrets),
    body: isCut ? cutBytes(bytes) : clean,
    body_truncated: isTruncated || isCut,
  };
}

/** Replaces secrets, also where they are escaped in JSON, percent-encoded or in base64. */
function redact(text: string, secrets: readonly (string | undefined)[]): string {
  const forms = secrets.flatMap((secret) => {
    if (secret === undefined || secret.length < SECRET_CHARS_MIN) return [];
    return [
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
      Buffer.from(secret).toString('base64'),
    ];
  });
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return longestFirst.reduce((rest, form) => rest.replaceAll(form, '[redacted]'), text);
}

/** Shorter ones would be found in any text. */
const SECRET_CHARS_MIN = 4;

function cutBytes(bytes: Buffer): string {
  let end: number = vaultLimits.capturedBytesMax;
  // Not within a character.
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}
