import {
  findInstalled,
  type FindProgramOptions,
  type FoundInstalled,
  type ProgramWords,
} from '../launch/find-installed.ts';

/** The installed opencode, or why it cannot be used. */
export type FoundOpencode = FoundInstalled<'not_opencode'>;

/** Finds the user's own opencode, by a path or a name on PATH. Never throws: problems are returned. */
export async function findOpencode(options: FindProgramOptions = {}): Promise<FoundOpencode> {
  return await findInstalled(words, options);
}

const words: ProgramWords<'not_opencode'> = {
  title: 'opencode',
  command: 'opencode',
  versionPattern: /^(\d+\.\d+\.\d+\S*)\s*$/m,
  // The oldest release that was tested: the wire changes between releases.
  oldestVersion: '1.18.33',
  wrong: 'not_opencode',
  install: 'install opencode (npm install -g opencode-ai)',
  option: '--opencode',
  update: 'update it (opencode upgrade)',
};
