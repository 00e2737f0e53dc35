import {
  findInstalled,
  type FindProgramOptions,
  type FoundInstalled,
  type InstalledProgram,
  type InstallProblem,
  type ProgramWords,
} from '../launch/find-installed.ts';

/** An installed Codex. */
export type CodexProgram = InstalledProgram;

/** Why Codex cannot be used, and what to do. */
export type CodexProblem = InstallProblem<'not_codex'>;

/** The installed Codex, or why it cannot be used. */
export type FoundCodex = FoundInstalled<'not_codex'>;

/** Where to look for Codex. */
export type FindCodexOptions = FindProgramOptions;

/** The user's own Codex. Never throws: problems are returned. */
export async function findCodex(options: FindCodexOptions = {}): Promise<FoundCodex> {
  return await findInstalled(words, options);
}

/** The oldest release that was tested: the protocol of earlier releases differs. */
export const OLDEST_CODEX = '0.166.0';

const words: ProgramWords<'not_codex'> = {
  title: 'Codex',
  command: 'codex',
  versionPattern: /^codex-cli (\d+\.\d+\.\d+\S*)/m,
  oldestVersion: OLDEST_CODEX,
  wrong: 'not_codex',
  install: 'install Codex (npm install -g @openai/codex)',
  option: '--codex',
  update: 'update it (npm install -g @openai/codex@latest)',
};
