import type { FilesRewound } from '../wire/events.ts';

/** A rewind of files in one line, with their number and the first three: `files rewound by admin (5): a.ts, b.ts, c.ts`. */
export function describeRewind({ by, files, files_count: count }: FilesRewound): string {
  return `files rewound by ${by} (${count}): ${files.slice(0, 3).join(', ')}`;
}
