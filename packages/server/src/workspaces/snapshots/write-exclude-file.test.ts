import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createGit } from '../git/run-git.ts';
import { EXCLUDE_FILE } from './exclude-file.ts';
import { snapshotLimits } from './objects/limits.ts';
import { SnapshotRepository } from './objects/snapshot-repository.ts';
import { writeExcludeFile } from './write-exclude-file.ts';

const RULE = 'user-rule\n';

it.each([
  ['a pipe', (file: string) => execFileSync('mkfifo', [file]), false],
  ['a link to a device', (file: string) => symlinkSync('/dev/zero', file), false],
  [
    'a file above the limit',
    (file: string) => writeFileSync(file, toRules(snapshotLimits.ignoreFileBytesMax + 1)),
    false,
  ],
  ['a file at the limit', (file: string) => writeFileSync(file, toRules(snapshotLimits.ignoreFileBytesMax)), true],
])(
  '[WS400] `info/exclude` of a repository that is %s neither blocks a record nor fills the memory',
  async (_, make, counts) => {
    const root = mkdtempSync(join(tmpdir(), 'fleetloom-exclude-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const [directory, userDirectory] = [join(root, 'work'), join(root, 'git')];
    mkdirSync(directory);
    mkdirSync(join(userDirectory, 'info'), { recursive: true });
    make(join(userDirectory, 'info/exclude'));
    const git = createGit('git');
    const repository = await SnapshotRepository.create(git, join(root, 'snapshot'), { format: 'sha1', alternates: [] });
    await writeExcludeFile({ git, repository, directory, userDirectory, base: repository.emptyTree });
    expect(readFileSync(repository.file(EXCLUDE_FILE), 'latin1').includes(RULE)).toBe(counts);
  },
);

function toRules(bytes: number): string {
  return RULE.padEnd(bytes - 1, '#').concat('\n');
}
