import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** A resource that a cgroup counts. */
export type Controller = 'memory' | 'pids' | 'cpu';

/** A directory in which groups can be created, if the server has permission. */
export interface CgroupTree {
  readonly version: 1 | 2;
  readonly directory: string;
  /** The controllers that this tree has, of those that launches use. */
  readonly controllers: readonly Controller[];
}

/**
 * The directories for groups of launches: below the server's group in version 1, beside it in version 2. There a group
 * with processes of its own cannot limit groups below it, and the server must stay where its operator put it.
 */
export function findCgroupTrees({ groups, mounts }: { groups: string; mounts: string } = readOwn()): CgroupTree[] {
  const own = readGroups(groups);
  return readMounts(mounts).flatMap(({ root, point, version, options }): CgroupTree[] => {
    const wanted = version === 2 ? '' : CONTROLLERS.find((name) => options.includes(name));
    const path = wanted === undefined ? undefined : own.get(wanted);
    const inside = path === undefined ? undefined : relative(root, path);
    // A mount may show a part of the tree that does not contain the server.
    if (inside === undefined || inside.startsWith('..')) return [];
    if (version === 1) {
      return [
        { version, directory: join(point, inside), controllers: CONTROLLERS.filter((name) => options.includes(name)) },
      ];
    }
    const directory = join(point, inside === '' ? '' : dirname(inside));
    return [{ version, directory, controllers: readControllers(directory) }];
  });
}

const CONTROLLERS: readonly Controller[] = ['memory', 'pids', 'cpu'];

function readOwn(): { groups: string; mounts: string } {
  return { groups: readFileSync('/proc/self/cgroup', 'utf8'), mounts: readFileSync('/proc/self/mountinfo', 'utf8') };
}

/** The server's group by controller: lines such as `4:memory:/a/b`, and `0::/a/b` for version 2. */
function readGroups(text: string): ReadonlyMap<string, string> {
  // Not `split`: the last line ends too, and the rest behind it would count as version 2, whose name is empty.
  const lines = [...text.matchAll(/^[0-9]+:([^:\n]*):(\/.*)$/gm)];
  return new Map(lines.flatMap(([, names, path]) => names!.split(',').map((name) => [name, path!] as const)));
}

interface Mount {
  readonly root: string;
  readonly point: string;
  readonly version: 1 | 2;
  readonly options: readonly string[];
}

/** `36 35 0:31 /root /point rw,… shared:1 - cgroup2 source rw,…` */
function readMounts(text: string): readonly Mount[] {
  return text.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , root = '/', point = ''] = before.split(' ').map((field) => unescapeField(field));
    const [type = '', , options = ''] = after.split(' ');
    if (type !== 'cgroup' && type !== 'cgroup2') return [];
    return [{ root, point, version: type === 'cgroup2' ? 2 : 1, options: options.split(',') } as const];
  });
}

/** The kernel writes spaces and the like as `\040`. */
function unescapeField(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** cpu only where it is enabled already: enabling it would change the shares of all other groups. */
function readControllers(directory: string): readonly Controller[] {
  const available = readWords(join(directory, 'cgroup.controllers'));
  const enabled = readWords(join(directory, 'cgroup.subtree_control'));
  return CONTROLLERS.filter((name) => (name === 'cpu' ? enabled : available).includes(name));
}

function readWords(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').trim().split(' ');
  } catch {
    return [];
  }
}
