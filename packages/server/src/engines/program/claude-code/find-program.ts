import {
  findInstalled,
  type FindProgramOptions,
  type InstalledProgram,
  type InstallProblem,
  type ProgramWords,
} from '../launch/find-installed.ts';
import { type Capabilities, capabilitiesOf, OLDEST_VERSION } from './capabilities.ts';
import { toPlainEnvironment } from './launch/to-environment.ts';

/** An installed claude program. */
export interface ClaudeProgram extends InstalledProgram {
  readonly supports: Capabilities;
}

/** Why the claude program cannot be used, and what to do. */
export type ProgramProblem = InstallProblem<'not_claude'>;

/** The installed program, or why it cannot be used. */
export type FoundProgram =
  | { readonly type: 'found'; readonly program: ClaudeProgram }
  | { readonly type: 'problem'; readonly problem: ProgramProblem };

/** The user's own claude program and its capabilities. Never throws: problems are returned. */
export async function findClaudeProgram(options: FindProgramOptions = {}): Promise<FoundProgram> {
  const found = await findInstalled(words, options, toPlainEnvironment);
  if (found.type === 'problem') return found;
  return { type: 'found', program: { ...found.program, supports: capabilitiesOf(found.program.version) } };
}

const words: ProgramWords<'not_claude'> = {
  title: 'Claude Code',
  command: 'claude',
  versionPattern: /^(\d+\.\d+\.\d+\S*) \(Claude Code\)/m,
  oldestVersion: OLDEST_VERSION,
  wrong: 'not_claude',
  install: 'install Claude Code (npm install -g @anthropic-ai/claude-code)',
  option: '--claude',
  update: 'update it (claude update)',
};
