import { requestError } from '../../base/request-error.ts';
import { workspaceLimits } from '../limits.ts';
import type { Git, GitRunOptions } from './run-git.ts';

/** The limits of git processes, which tests lower. */
export interface GitSlotLimits {
  /** Processes that run at the same time: of one repository, and of all repositories. */
  readonly gitPerSessionMax: number;
  readonly gitAtOnceMax: number;
  /** Waiting processes of requests: of one repository, and of all repositories. */
  readonly gitWaitingPerSessionMax: number;
  readonly gitWaitingMax: number;
}

/** Runs git with a limit on the processes that run at the same time. Each session has a repository of its own. */
export interface GitSlots {
  /** Waits for a slot without a limit: files must not stay partly written because requests read. */
  readonly patient: Git;
  /** Runs git for a request that may be repeated: rejects if too many processes wait, and stops on the signal. */
  forRequest(signal?: AbortSignal): Git;
}

/** Limits the processes of git. A process holds one slot and never waits for another one. */
export function createGitSlots(git: Git, limits: GitSlotLimits = workspaceLimits): GitSlots {
  const running = new Map<string, number>();
  let waiting: Waiting[] = [];
  let count = 0;

  const runningOf = (key: string) => running.get(key) ?? 0;
  const isFree = (key: string) => count < limits.gitAtOnceMax && runningOf(key) < limits.gitPerSessionMax;
  const take = (key: string) => {
    count++;
    running.set(key, runningOf(key) + 1);
  };
  const release = (key: string) => {
    count--;
    if (runningOf(key) === 1) running.delete(key);
    else running.set(key, runningOf(key) - 1);
    const next = waiting.find((each) => isFree(each.key));
    if (next === undefined) return;
    waiting = waiting.filter((each) => each !== next);
    take(next.key);
    next.start();
  };

  const wait = async (key: string, signal: AbortSignal | undefined) => {
    const entry: Waiting = { key, start: () => {} };
    const onAbort = () => {
      if (!waiting.includes(entry)) return;
      waiting = waiting.filter((each) => each !== entry);
      entry.stop?.();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      await new Promise<void>((resolve, reject) => {
        entry.start = resolve;
        entry.stop = () => reject(ended());
        waiting.push(entry);
      });
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  };

  const checkWaiting = (key: string) => {
    const own = waiting.filter((each) => each.key === key).length;
    if (own < limits.gitWaitingPerSessionMax && waiting.length < limits.gitWaitingMax) return;
    const problem = `${own} git processes of this session are waiting, and ${waiting.length} of all sessions`;
    throw requestError('too_many_requests', problem, { retryAfterSeconds: RETRY_AFTER_S });
  };

  const run = async (args: readonly string[], options: GitRunOptions, refuses: boolean) => {
    const key = options.gitDirectory ?? options.cwd;
    if (options.signal?.aborted) throw ended();
    if (isFree(key)) take(key);
    else {
      if (refuses) checkWaiting(key);
      await wait(key, options.signal);
    }
    try {
      return await git.run(args, options);
    } catch (error) {
      throw options.signal?.aborted ? ended() : error;
    } finally {
      release(key);
    }
  };

  return {
    patient: { run: (args, options) => run(args, options, false) },
    forRequest: (signal) => ({ run: (args, options) => run(args, { signal, ...options }, true) }),
  };
}

/** The error after an abort, which no client receives. */
function ended() {
  return requestError('request_timeout', 'the client has closed the connection');
}

interface Waiting {
  readonly key: string;
  start: () => void;
  stop?: () => void;
}

const RETRY_AFTER_S = 2;
