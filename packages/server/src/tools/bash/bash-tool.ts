import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import type { FindProgram } from '../find-program.ts';
import type { Locks } from '../locks.ts';
import { createNoSandbox } from '../sandbox/no-sandbox.ts';
import type { Sandbox, SandboxState } from '../sandbox/sandbox.ts';
import { type Tool, type ToolContext, type ToolResult, textResult } from '../tool.ts';
import { Interrupted, ToolFailure, throwIfInterrupted } from '../tool-failure.ts';
import type { ToolLimits } from '../tool-limits.ts';
import { SHELL_ARGS, Shell, type ShellOutcome } from './shell.ts';

export interface BashToolOptions {
  readonly sandbox: () => Promise<SandboxState>;
  /** Runs commands on the whole machine where there is no sandbox. */
  readonly allowsUnsandboxed: boolean;
  /** Only some hosts may be reached, which nothing but a sandbox makes sure of. */
  readonly isNetworkLimited: boolean;
  readonly findProgram: FindProgram;
  readonly limits: ToolLimits;
  readonly locks: Locks;
}

export interface BashTool extends Tool {
  closeThread(threadId: string): Promise<void>;
  close(): Promise<void>;
}

/** One shell for each thread. */
export function createBashTool(options: BashToolOptions): BashTool {
  const { sandbox, allowsUnsandboxed, isNetworkLimited, findProgram, limits, locks } = options;
  /** There, or on their way: whoever closes a thread waits for its shell to begin, so that none is left behind. */
  const shells = new Map<string, Promise<Shell>>();
  let isClosed = false;
  const { bashTimeoutMs, bashTimeoutMsMax } = limits;

  const tool = defineTool({
    name: 'bash',
    description:
      'Runs a command in bash. The shell stays between calls: directory and variables are as the last command left them. ' +
      `Only the last ${limits.bashOutputBytesMax} bytes of the output are kept. The shell begins in the workspace.`,
    input: z.object({
      command: z.string().nullish().describe('What to run'),
      restart: z.boolean().nullish().describe('Ends the shell, with everything that runs in it, and begins a new one'),
      timeout_ms: z
        .int()
        .min(1)
        .max(bashTimeoutMsMax)
        .nullish()
        .describe(`How long it may take, in milliseconds; ${bashTimeoutMs} if not given`),
    }),
    run: async ({ command, restart, timeout_ms: timeoutMs }, context) => {
      const isRestart = restart === true;
      if (!isRestart && (command ?? '') === '') throw new ToolFailure('give a command, or set restart');
      if (command?.includes('\0')) throw new ToolFailure('a command cannot have a NUL in it');
      // Commands of one thread wait for each other, also when the model asks for several at once.
      return await waitInLine(context, async () => {
        if (isRestart) await closeThread(context.threadId);
        if ((command ?? '') === '') return textResult('The shell was restarted.');
        const shell = await openShell(context);
        const { signal } = context;
        throwIfInterrupted(signal);
        const outcome = await shell.run({ command: command ?? '', timeoutMs: timeoutMs ?? bashTimeoutMs, signal });
        if (outcome.type !== 'exited') await closeThread(context.threadId);
        return toResult(outcome, timeoutMs ?? bashTimeoutMs);
      });
    },
  });

  return {
    ...tool,
    closeThread,
    close: async () => {
      isClosed = true;
      await Promise.all([...shells.keys()].map((threadId) => closeThread(threadId)));
    },
  };

  /** Whoever is interrupted before it is their turn does not wait for it. */
  async function waitInLine(context: ToolContext, work: () => Promise<ToolResult>): Promise<ToolResult> {
    const { threadId, signal } = context;
    return await new Promise((resolve, reject) => {
      const leave = (): void => reject(new Interrupted());
      signal.addEventListener('abort', leave, { once: true });
      const turn = locks.hold(`bash ${threadId}`, async () => {
        throwIfInterrupted(signal);
        signal.removeEventListener('abort', leave);
        return await work();
      });
      turn.then(resolve, reject);
    });
  }

  async function closeThread(threadId: string): Promise<void> {
    const starting = shells.get(threadId);
    shells.delete(threadId);
    // Whoever started it hears why it did not begin.
    const shell = await starting?.catch(() => undefined);
    await shell?.close();
  }

  async function openShell(context: ToolContext): Promise<Shell> {
    const { threadId } = context;
    const open = shells.get(threadId);
    if (open !== undefined && !(await open).isGone) return await open;
    if (isClosed) throw new ToolFailure('the session is closed');
    const starting = startShell(context);
    shells.set(threadId, starting);
    try {
      return await starting;
    } catch (error) {
      if (shells.get(threadId) === starting) shells.delete(threadId);
      throw error;
    }
  }

  async function startShell({ openWorkspace }: ToolContext): Promise<Shell> {
    const program = await findProgram('bash');
    if (program === undefined) throw new ToolFailure('bash is not installed here: work with the other tools');
    const place = await openSandbox();
    const workspace = await openWorkspace();
    const launch = place.launch({ program, args: SHELL_ARGS, workspace, isWorkspaceWritable: true });
    const { bashOutputBytesMax: outputBytesMax, bashDrainMs: drainMs } = limits;
    return await Shell.start({ launch, workspace, outputBytesMax, drainMs });
  }

  async function openSandbox(): Promise<Sandbox> {
    const state = await sandbox();
    if (state.type === 'ready') return state.sandbox;
    if (allowsUnsandboxed && !isNetworkLimited) return createNoSandbox();
    if (allowsUnsandboxed) {
      throw new ToolFailure(
        'the environment of this session limits its network, and without a sandbox nothing keeps commands within it: ' +
          `${state.reason}. Work with the other tools`,
      );
    }
    throw new ToolFailure(
      `commands only run in a sandbox, and there is none: ${state.reason}. Work with the other tools, and tell the user ` +
        'that the operator of this server can install bubblewrap, or allow bash without a sandbox',
    );
  }
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
