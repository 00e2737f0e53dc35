import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Launch } from '../../tools/sandbox/sandbox.ts';
import { startLaunch } from '../../tools/sandbox/start-launch.ts';
import { workspaceLimits } from '../limits.ts';
import { GitFailure } from './git-failure.ts';

/** The repository of a git command, its settings and its limits. */
export interface GitRunOptions {
  /** The directory to run in. */
  readonly cwd: string;
  readonly gitDirectory?: string | undefined;
  readonly workTree?: string | undefined;
  readonly indexFile?: string | undefined;
  /** Further settings, in the form of `-c`. Must not contain a secret: arguments of a process are visible. */
  readonly settings?: readonly string[] | undefined;
  /** Further environment variables, for this process only. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly input?: string | Uint8Array | undefined;
  readonly timeoutMs?: number | undefined;
  readonly outputBytesMax?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Exit codes that are not failures, beside 0: `git diff --exit-code` ends with 1. */
  readonly codes?: readonly number[] | undefined;
  /** The limits of each process, for commands that read untrusted data. Ignored in a sandbox, which has limits of its own. */
  readonly limits?: GitLimits | undefined;
  /** Puts the command into a sandbox. */
  readonly wrap?: ((command: GitCommand) => Launch) | undefined;
}

/** Limits of a process that neither it nor its children can raise. */
export interface GitLimits {
  /** Bytes of private memory. */
  readonly dataBytes: number;
  readonly cpuSeconds: number;
  /** Bytes of each written file. */
  readonly fileBytes: number;
}

/** A process to start. */
export interface GitCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The output of a git command. */
export interface GitOutput {
  readonly code: number;
  readonly stdout: Buffer;
  /** The warnings on stderr, truncated, one character for each byte. */
  readonly stderr?: string | undefined;
}

/** Runs git commands with overriding settings of the server, so that no hook, filter, pager, editor or helper of a repository runs. */
export interface Git {
  /** Rejects with a {@link GitFailure}. */
  run(args: readonly string[], options: GitRunOptions): Promise<GitOutput>;
}

/** Creates the runner of the git program at a path. */
export function createGit(program: string): Git {
  return {
    run: async (args, options) => {
      const plain = toCommand(program, args, options);
      const limited = options.limits === undefined ? plain : withLimits(plain, options.limits);
      return await runCommand(options.wrap?.(plain) ?? { ...limited, data: [] }, args, options);
    },
  };
}

/** Runs a command through a shell that sets the limits and then executes the program in its place. */
function withLimits({ file, args, env }: GitCommand, { dataBytes, cpuSeconds, fileBytes }: GitLimits): GitCommand {
  const steps = [
    'ulimit -c 0',
    `ulimit -d ${Math.floor(dataBytes / 1024)}`,
    `ulimit -t ${cpuSeconds}`,
    // In blocks of 512 bytes, as specified by POSIX.
    `ulimit -f ${Math.ceil(fileBytes / 512)}`,
    'exec "$@"',
  ];
  return { file: '/bin/sh', args: ['-c', steps.join(' && '), 'git', file, ...args], env };
}

function toCommand(program: string, args: readonly string[], options: GitRunOptions): GitCommand {
  const settings = [...SETTINGS, ...(options.settings ?? [])].flatMap((setting) => ['-c', setting]);
  const places = {
    ...(options.gitDirectory === undefined ? {} : { GIT_DIR: options.gitDirectory }),
    ...(options.workTree === undefined ? {} : { GIT_WORK_TREE: options.workTree }),
    ...(options.indexFile === undefined ? {} : { GIT_INDEX_FILE: options.indexFile }),
  };
  const env = { ...ENVIRONMENT, PATH: process.env['PATH'] ?? '/usr/bin:/bin', ...places, ...options.env };
  return { file: program, args: [...settings, '--no-pager', '--literal-pathspecs', ...args], env };
}

/** The environment of git, without the server's own: `GIT_…` variables and the user's home would change its behaviour. */
const ENVIRONMENT = {
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '/bin/false',
  SSH_ASKPASS: '/bin/false',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_LFS_SKIP_SMUDGE: '1',
  GIT_EDITOR: '/bin/false',
  // Unlike `protocol.allow` this cannot be overridden by `protocol.<name>.allow` of a repository, whose promisor remote could run a
  // program of its choice for an object that is missing.
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
};

/** Settings that override the configuration of the repository. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.sshCommand=/bin/false',
  'core.pager=cat',
  'core.editor=/bin/false',
  'core.symlinks=true',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'credential.helper=',
  'protocol.allow=never',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'commit.gpgSign=false',
  'tag.gpgSign=false',
  'diff.external=',
  'diff.noprefix=false',
  'advice.detachedHead=false',
  'safe.directory=*',
];

function runCommand(launch: Launch, asked: readonly string[], options: GitRunOptions): Promise<GitOutput> {
  const { cwd, input, signal, codes = [] } = options;
  const { timeoutMs = workspaceLimits.gitTimeoutMs, outputBytesMax = workspaceLimits.gitOutputBytesMax } = options;
  const title = `git ${asked.find((arg) => !arg.startsWith('-')) ?? ''}`.trim();
  return new Promise((resolve, reject) => {
    const fail = (problem: string, details: { code?: number | null; stderr?: string; cause?: unknown } = {}) => {
      const { code = null, stderr = '', cause } = details;
      reject(new GitFailure(`${title} ${problem}`, { code, stderr, cause }));
    };
    if (signal?.aborted) return fail('was stopped before it began');
    const child = startLaunch(launch, { cwd, stdio: ['pipe', 'pipe', 'pipe', 'ignore'] }, (cause) =>
      fail(`cannot be started (${cause.message}): install git 2.30 or newer`, { cause }),
    );
    if (child?.stdout == null || child.stderr == null) return;
    let reason: string | undefined;
    const end = (why: string) => {
      reason ??= why;
      kill(child);
    };
    const stdout = collect(child.stdout, outputBytesMax, () => end(`wrote more than ${outputBytesMax} bytes`));
    // Further warnings are dropped without a failure, because a repository can cause any number of them.
    const stderr = collect(child.stderr, workspaceLimits.gitStderrBytesMax, () => {});
    const timer = setTimeout(() => end(`took longer than ${timeoutMs} ms`), timeoutMs);
    const onAbort = () => end('was stopped');
    signal?.addEventListener('abort', onAbort, { once: true });
    child.on('close', (code) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      const said = clean(stderr().toString());
      if (reason !== undefined) fail(reason, { code, stderr: said });
      else if (code === 0 || (code !== null && codes.includes(code)))
        resolve({ code, stdout: stdout(), stderr: stderr().toString('latin1') });
      else
        fail(`failed: ${said.slice(0, workspaceLimits.gitMessageCharsMax) || `exit code ${code}`}`, {
          code,
          stderr: said,
        });
    });
    child.stdin?.end(input ?? '');
  });
}

/** Kills a process and the processes that it has started, which are in its process group. */
function kill(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The process has ended in the meantime.
  }
  for (const pipe of child.stdio) pipe?.destroy();
}

function collect(stream: Readable, bytesMax: number, onTooMuch: () => void): () => Buffer {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    if (bytes < bytesMax) chunks.push(chunk.subarray(0, bytesMax - bytes));
    bytes += chunk.length;
    if (bytes > bytesMax) onTooMuch();
  });
  return () => Buffer.concat(chunks);
}

/** Removes control characters: messages of git contain file names, which may have any characters. */
function clean(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').trim();
}
