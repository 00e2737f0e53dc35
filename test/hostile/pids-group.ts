import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCgroupTrees } from '../../packages/server/src/tools/sandbox/cgroups/cgroup-trees.ts';

/** A cgroup that limits how many processes and threads there are in it. */
export interface PidsGroup {
  readonly directory: string;
  setMax(count: number | 'max'): void;
  count(): number;
  remove(): void;
}

/** Creates a group; undefined if this user may not create one. */
export function createPidsGroup(): PidsGroup | undefined {
  const tree = findCgroupTrees().find(({ controllers }) => controllers.includes('pids'));
  if (tree === undefined) return undefined;
  const directory = join(tree.directory, `fleetloom-test-${process.pid}-${Date.now()}`);
  try {
    mkdirSync(directory);
  } catch {
    return undefined;
  }
  if (!existsSync(join(directory, 'pids.max'))) {
    rmdirSync(directory);
    return undefined;
  }
  return {
    directory,
    setMax: (count) => writeFileSync(join(directory, 'pids.max'), `${count}`),
    count: () => Number(readFileSync(join(directory, 'pids.current'), 'utf8')),
    remove: () => rmdirSync(directory),
  };
}
