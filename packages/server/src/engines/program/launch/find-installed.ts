import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { cutText } from '@fleetloom/protocol/fleet';
import { runProgram } from '../../../base/process/run-program.ts';
import { programLimits } from '../limits.ts';
import { compareVersions } from './compare-versions.ts';
import { pickPlain } from './inherited-variables.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The texts of one program for finding it and for messages. Sentences do not end with a full stop. */
export interface ProgramWords<Wrong extends string> {
  readonly title: string;
  /** The name of the program on PATH. */
  readonly command: string;
  /** Finds the version in the output of `--version`. */
  readonly versionPattern: RegExp;
  readonly oldestVersion: string;
  /** The `reason` of a problem if another program is at the path. */
  readonly wrong: Wrong;
  /** How to install it. */
  readonly install: string;
  /** The option of the server that has its path. */
  readonly option: string;
  readonly update: string;
}

/** Why a program cannot be used, and what to do. */
export interface InstallProblem<Wrong extends string> {
  readonly reason: 'not_found' | 'not_executable' | 'no_answer' | 'too_old' | Wrong;
  /** The path of the program, or the path that was searched; null if none is known. */
  readonly path: string | null;
  /** The problem, without a full stop. */
  readonly problem: string;
  /** The advice, without a full stop. */
  readonly advice: string;
}

/** Where to look for a program. */
export interface FindProgramOptions {
  /** The path of the program, or its name on PATH. By default its usual name. */
  readonly program?: string | undefined;
  /** The environment whose `PATH` is searched; by default this process's. */
  readonly environment?: Environment | undefined;
  /** How long the program may take to print its version. */
  readonly answerMs?: number | undefined;
}

/** An installed program. */
export interface InstalledProgram {
  readonly path: string;
  readonly version: string;
}

/** An installed program, or why it cannot be used. */
export type FoundInstalled<Wrong extends string> =
  | { readonly type: 'found'; readonly program: InstalledProgram }
  | { readonly type: 'problem'; readonly problem: InstallProblem<Wrong> };

/**
 * Finds a program and its version. Never throws: problems are returned. `pick` selects the variables that the program is started with;
 * it does not need any secrets to print its version.
 */
export async function findInstalled<Wrong extends string>(
  words: ProgramWords<Wrong>,
  options: FindProgramOptions,
  pick: (environment: Environment) => Record<string, string> = pickPlain,
): Promise<FoundInstalled<Wrong>> {
  const { program = words.command, environment = process.env, answerMs = programLimits.programVersionMs } = options;
  const env = pick(environment);
  const says = toProblems(words);
  const located = await locateProgram(program, environment['PATH'] ?? '');
  if (located.type === 'missing') return says.notFound(located.path, program);
  if (located.type === 'blocked') return says.notExecutable(located.path);
  const { path } = located;
  try {
    const bounds = { env, timeoutMs: answerMs, outputBytesMax: VERSION_BYTES_MAX };
    const { code, stdout, stderr, isCut } = await runProgram(path, ['--version'], bounds);
    if (isCut) return says.noAnswer(path, `cannot be run: --version prints more than ${VERSION_BYTES_MAX} bytes`);
    if (code === null) return says.noAnswer(path, `did not print its version within ${answerMs / 1000} s`);
    if (code !== 0) {
      return says.noAnswer(path, `cannot be run: ${firstLine(stderr) || `it ended with exit code ${code}`}`);
    }
    const version = words.versionPattern.exec(stdout)?.[1];
    if (version === undefined) return says.wrongProgram(path, stdout);
    return compareVersions(version, words.oldestVersion) < 0
      ? says.tooOld(path, version)
      : { type: 'found', program: { path, version } };
  } catch (error) {
    return says.noAnswer(path, `cannot be run: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const VERSION_BYTES_MAX = 64 * 1024;

type Located =
  | { readonly type: 'path' | 'blocked'; readonly path: string }
  | { readonly type: 'missing'; readonly path: string | null };

/** Looks for a program by a path, or by its name in the folders of `searchPath`. */
export async function locateProgram(program: string, searchPath: string): Promise<Located> {
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
  if (blocked !== undefined) return { type: 'blocked', path: blocked };
  return { type: 'missing', path: isPath ? resolve(program) : null };
}

async function look(path: string): Promise<'program' | 'blocked' | 'nothing'> {
  try {
    if (!(await stat(path)).isFile()) return 'nothing';
  } catch {
    // A missing file and a file that cannot be accessed are treated alike.
    return 'nothing';
  }
  return access(path, constants.X_OK).then(
    () => 'program' as const,
    () => 'blocked' as const,
  );
}

function toProblems<Wrong extends string>({
  title,
  install,
  option,
  oldestVersion,
  update,
  wrong,
}: ProgramWords<Wrong>) {
  const toProblem = (problem: InstallProblem<Wrong>): FoundInstalled<Wrong> => ({ type: 'problem', problem });
  return {
    notFound: (path: string | null, program: string) => {
      const problem = path === null ? `no ${program} on PATH` : `there is no file ${path}`;
      return toProblem({ reason: 'not_found', path, problem, advice: `${install}, or give its path with ${option}` });
    },
    notExecutable: (path: string) => {
      const advice = `make it executable (chmod +x ${path}), or give another path with ${option}`;
      return toProblem({ reason: 'not_executable', path, problem: `${path} is not executable`, advice });
    },
    noAnswer: (path: string, cause: string) => {
      const advice = `run \`${path} --version\` to see its output, or give another path with ${option}`;
      return toProblem({ reason: 'no_answer', path, problem: `${path} ${cause}`, advice });
    },
    wrongProgram: (path: string, stdout: string) => {
      const said = firstLine(stdout);
      const problem = `${path} is not ${title}: --version prints ${said === '' ? 'nothing' : JSON.stringify(said)}`;
      return toProblem({ reason: wrong, path, problem, advice: `give the path of ${title} with ${option}` });
    },
    tooOld: (path: string, version: string) => {
      const problem = `${path} is ${title} ${version}, and ${oldestVersion} or newer is needed`;
      return toProblem({ reason: 'too_old', path, problem, advice: update });
    },
  };
}

function firstLine(text: string): string {
  return cutText(text.trim().split('\n')[0] ?? '', 200);
}
