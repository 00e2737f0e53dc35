import { posix } from 'node:path';

/**
 * Paths that agents see, wherever the workspace is on this machine: `/workspace` is the workspace itself, and
 * `/mnt/session` holds what was put in for the session (`uploads`) and what it puts out (`outputs`). The latter is kept
 * where searches of the workspace do not look. `/uploads` is in the SDK's own examples, and means a directory of that name
 * among the uploads.
 */
export const SESSION_PATHS: readonly { readonly shown: string; readonly inside: string }[] = [
  { shown: '/workspace', inside: '' },
  { shown: '/mnt/session', inside: '.fleetloom/session' },
  { shown: '/uploads', inside: '.fleetloom/session/uploads/uploads' },
];

/** Where agents write output files, as they see it. */
export const OUTPUTS_PATH = '/mnt/session/outputs';
/** Where agents find mounted files, as they see it. */
export const UPLOADS_PATH = '/mnt/session/uploads';

/** The path inside the workspace; undefined if it is not a session path. */
export function toInside(path: string): string | undefined {
  const normal = posix.normalize(path);
  for (const { shown, inside } of SESSION_PATHS) {
    if (normal === shown || normal.startsWith(`${shown}/`)) {
      const rest = normal.slice(shown.length + 1);
      return [inside, rest].filter((part) => part !== '').join('/');
    }
  }
  return undefined;
}
