import type { HostPrograms } from '../host-programs.ts';
import type { ToolLimits } from '../../tool-limits.ts';
import { type ToolResult, textResult } from '../../tool.ts';
import { ToolFailure, throwIfInterrupted } from '../../tool-failure.ts';
import type { Shell, ShellOptions, ShellOutcome } from './shell.ts';

/** The checked input of `bash`. */
export interface BashInput {
  readonly command?: string | null | undefined;
  readonly restart?: boolean | null | undefined;
  readonly timeout_ms?: number | null | undefined;
}

/** The parts of a session that a shell needs. */
export interface ShellContext {
  readonly threadId: string;
  readonly signal: AbortSignal;
  readonly workspace: string;
  readonly programs: HostPrograms;
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: ToolLimits;
}

/** One shell for each thread. The server sends the commands of a thread one after the other. */
export class Shells {
  /** The shells by thread, including starting ones: closing a thread waits for the start of its shell, so that none is left behind. */
  readonly #shells = new Map<string, Promise<Shell>>();
  #isClosed = false;

  get count(): number {
    return this.#shells.size;
  }

  async run({ command, restart, timeout_ms }: BashInput, context: ShellContext): Promise<ToolResult> {
    const { threadId, signal, limits } = context;
    const timeoutMs = timeout_ms ?? limits.bashTimeoutMs;
    if (restart === true) await this.closeThread(threadId);
    if ((command ?? '') === '') return textResult('The shell was restarted.');
    const shell = await this.#open(context);
    throwIfInterrupted(signal);
    const outcome = await shell.run({ command: command ?? '', timeoutMs, signal });
    if (outcome.type !== 'exited') await this.closeThread(threadId);
    return toResult(outcome, timeoutMs);
  }

  async closeThread(threadId: string): Promise<void> {
    const starting = this.#shells.get(threadId);
    this.#shells.delete(threadId);
    // The call that started the shell reports why it did not start.
    const shell = await starting?.catch(() => undefined);
    await shell?.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#shells.keys()].map((threadId) => this.closeThread(threadId)));
  }

  async #open({ threadId, programs, environment, workspace, limits }: ShellContext): Promise<Shell> {
    const open = this.#shells.get(threadId);
    if (open !== undefined && !(await open).isGone) return await open;
    if (this.#isClosed) throw new ToolFailure('the session is closed');
    const { bash: program } = programs;
    if (program === undefined) throw new ToolFailure('bash is not installed here: work with the other tools');
    const { bashOutputBytesMax: outputBytesMax, bashDrainMs: drainMs } = limits;
    const starting = start({ program, workspace, environment, outputBytesMax, drainMs });
    this.#shells.set(threadId, starting);
    try {
      return await starting;
    } catch (error) {
      if (this.#shells.get(threadId) === starting) this.#shells.delete(threadId);
      throw error;
    }
  }
}

/** Starts a shell. Its module is loaded on first use, because it loads large parts of Node and some sessions never open a shell. */
async function start(options: ShellOptions): Promise<Shell> {
  const { Shell } = await import('./shell.ts');
  return await Shell.start(options);
}

function toResult(outcome: ShellOutcome, timeoutMs: number): ToolResult {
  const isGood = outcome.type === 'exited' && outcome.status === 0;
  const remark = isGood ? (outcome.output === '' ? '(no output)' : '') : toRemark(outcome, timeoutMs);
  return textResult([outcome.output, remark].filter((part) => part !== '').join('\n\n'), { isError: !isGood });
}

function toRemark(outcome: ShellOutcome, timeoutMs: number): string {
  const after = 'The next command begins in a new one, in the workspace.';
  switch (outcome.type) {
    case 'exited':
      return `Exit code ${outcome.status}`;
    case 'ended':
      return `Exit code ${outcome.status}. The shell itself ended. ${after}`;
    case 'timed_out':
      return `Timed out after ${timeoutMs} ms: the command was killed, and the shell with it. ${after}`;
    case 'interrupted':
      return `Interrupted: the command was killed, and the shell with it. ${after}`;
  }
}
