import { runProgram } from '../../base/run-program.ts';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { cutText } from '@fleetloom/protocol/fleet';
import { limits } from '../../base/limits.ts';
import { toPlainEnvironment } from './to-environment.ts';
import { type Capabilities, capabilitiesOf, compareVersions, OLDEST_VERSION } from './capabilities.ts';

export interface ClaudeProgram {
  readonly path: string;
  readonly version: string;
  readonly supports: Capabilities;
}

export interface ProgramProblem {
  readonly reason: 'not_found' | 'not_executable' | 'no_answer' | 'not_claude' | 'too_old';
  /** Where it was looked for or found. */
  readonly path: string | null;
  /** What is wrong, without full stop. */
  readonly problem: string;
  /** What to do about it, without full stop. */
  readonly advice: string;
}

export type FoundProgram =
  | { readonly type: 'found'; readonly program: ClaudeProgram }
  | { readonly type: 'problem'; readonly problem: ProgramProblem };

export interface FindProgramOptions {
  /** Where it is, by a path or a name on PATH. By default `claude` on PATH. */
  readonly program?: string | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** How long it may take to say its version. */
  readonly answerMs?: number | undefined;
}

/** The user's own claude program, and what it can do. Never throws: what is wrong with it is told. */
export async function findClaudeProgram(options: FindProgramOptions = {}): Promise<FoundProgram> {
  const { program = 'claude', environment = process.env, answerMs = limits.claudeVersionMs } = options;
  const located = await locate(program, environment['PATH'] ?? '');
  if (located.type === 'problem') return located;
  const { path } = located;
  const said = await askVersion(path, environment, answerMs);
  if (said.type === 'problem') return said;
  const { version } = said;
  if (compareVersions(version, OLDEST_VERSION) < 0) return tooOld(path, version);
  return { type: 'found', program: { path, version, supports: capabilitiesOf(version) } };
}

type Problem = Extract<FoundProgram, { type: 'problem' }>;

async function locate(program: string, searchPath: string): Promise<{ type: 'path'; path: string } | Problem> {
  const isPath = program.includes('/') || program.includes('\\');
  const folders = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  const names = process.platform === 'win32' ? [program, `${program}.exe`] : [program];
  const places = isPath ? [resolve(program)] : folders.flatMap((folder) => names.map((name) => join(folder, name)));
  let blocked: string | undefined;
  for (const path of places) {
    const state = await look(path);
    if (state === 'program') return { type: 'path', path };
    if (state === 'blocked') blocked ??= path;
  }
  if (blocked !== undefined) return notExecutable(blocked);
  return notFound(isPath ? resolve(program) : null, program);
}

async function look(path: string): Promise<'program' | 'blocked' | 'nothing'> {
  try {
    if (!(await stat(path)).isFile()) return 'nothing';
  } catch {
    // Not there, or not for us to see: the same to who looks for it.
    return 'nothing';
  }
  return access(path, constants.X_OK).then(
    () => 'program' as const,
    () => 'blocked' as const,
  );
}

async function askVersion(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
  timeoutMs: number,
): Promise<{ type: 'version'; version: string } | Problem> {
  // It has no use for our secrets to say its version.
  const bounds = { env: toPlainEnvironment(environment), timeoutMs, outputBytesMax: VERSION_BYTES_MAX };
  try {
    const { code, stdout, stderr, isCut } = await runProgram(path, ['--version'], bounds);
    if (isCut) return noAnswer(path, `cannot be run: it says more than ${VERSION_BYTES_MAX} bytes`);
    if (code === null) return noAnswer(path, `did not say its version within ${timeoutMs / 1000} s`);
    if (code !== 0) return noAnswer(path, `cannot be run: ${firstLine(stderr) || `it ended with exit code ${code}`}`);
    const version = /^(\d+\.\d+\.\d+\S*) \(Claude Code\)/m.exec(stdout)?.[1];
    return version === undefined ? notClaude(path, stdout) : { type: 'version', version };
  } catch (error) {
    return noAnswer(path, `cannot be run: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const VERSION_BYTES_MAX = 64 * 1024;

function notFound(path: string | null, program: string): Problem {
  const where = path === null ? `no ${program} on PATH` : `there is no file ${path}`;
  const advice = 'install Claude Code (npm install -g @anthropic-ai/claude-code), or say where it is with --claude';
  return toProblem({ reason: 'not_found', path, problem: where, advice });
}

function notExecutable(path: string): Problem {
  const advice = `make it executable (chmod +x ${path}), or name another one with --claude`;
  return toProblem({ reason: 'not_executable', path, problem: `${path} is no program that we may run`, advice });
}

function noAnswer(path: string, cause: string): Problem {
  const advice = `run \`${path} --version\` to see what it says, or name another one with --claude`;
  return toProblem({ reason: 'no_answer', path, problem: `${path} ${cause}`, advice });
}

function notClaude(path: string, stdout: string): Problem {
  const said = firstLine(stdout);
  const problem = `${path} does not answer as Claude Code: it says ${said === '' ? 'nothing' : JSON.stringify(said)}`;
  return toProblem({ reason: 'not_claude', path, problem, advice: 'say where Claude Code is with --claude' });
}

function tooOld(path: string, version: string): Problem {
  const problem = `${path} is Claude Code ${version}, and ${OLDEST_VERSION} or newer is needed`;
  return toProblem({ reason: 'too_old', path, problem, advice: 'update it (claude update)' });
}

function toProblem(problem: ProgramProblem): Problem {
  return { type: 'problem', problem };
}

function firstLine(text: string): string {
  return cutText(text.trim().split('\n')[0] ?? '', 200);
}
