import type { FileMetadata } from '@fleetloom/protocol/managed-agents';
import { httpLimits } from '../limits.ts';
import { ANY_BYTES, toMediaType } from '../../files/media-type.ts';

/** Headers for the content of a file, valid for every stored type and name. */
export function toContentHeaders({ mime_type: type, filename }: FileMetadata): Record<string, string> {
  return {
    // The type is checked again: files of older versions have an unchecked type.
    'content-type': toMediaType(type),
    // An uploaded page must not run as a page of this server.
    'content-disposition': `attachment; filename*=UTF-8''${encodeName(filename)}`,
    'x-content-type-options': 'nosniff',
  };
}

/** Headers for a file of which only the name is known. */
export function toDownloadHeaders(filename: string): Record<string, string> {
  return {
    'content-type': ANY_BYTES,
    'content-disposition': `attachment; filename*=UTF-8''${encodeName(filename)}`,
    'x-content-type-options': 'nosniff',
  };
}

/** Encoded as RFC 5987 defines it, without the directories that outputs of a session have in their name. */
function encodeName(filename: string): string {
  const name = filename.split('/').at(-1)!.slice(0, httpLimits.uploadNameCharsMax);
  // Through bytes, which replaces lone surrogates: they cannot be encoded.
  const whole = Buffer.from(name).toString();
  return encodeURIComponent(whole).replaceAll(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
