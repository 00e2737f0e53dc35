import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own in memory, which can be full. */
export interface SmallDisk {
  readonly directory: string;
  freeBytes(): number;
  unmount(): void;
}

/** Mounts a small disk; undefined if this user may not mount one. */
export function mountSmallDisk(megabytes: number): SmallDisk | undefined {
  const point = mkdtempSync(join(tmpdir(), 'fleetloom-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'fleetloom-test', point]);
  if (status !== 0) {
    rmdirSync(point);
    return undefined;
  }
  const directory = join(point, 'data');
  mkdirSync(directory, { mode: 0o700 });
  return {
    directory,
    freeBytes: () => {
      const { bavail, bsize } = statfsSync(point);
      return bavail * bsize;
    },
    unmount: () => {
      spawnSync('umount', ['-l', point]);
      rmdirSync(point);
    },
  };
}
