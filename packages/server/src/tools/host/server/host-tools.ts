import { builtInTools, type WorkspaceToolName } from '@fleetloom/protocol/managed-agents';
import type { Json } from '../../../base/json/json.ts';
import { bindTool } from '../../define-tool.ts';
import type { Locks } from '../../locks.ts';
import { type Tool, type ToolContext, type ToolResult, textResult } from '../../tool.ts';
import { Interrupted, ToolFailure, throwIfInterrupted } from '../../tool-failure.ts';
import type { ToolLimits } from '../../tool-limits.ts';
import type { HostLauncher } from './host-launch.ts';
import type { BashInput } from '../../builtin/bash/shells.ts';
import type { HostTool } from '../../builtin/built-in-tool.ts';
import type { SessionHosts } from './session-hosts.ts';
import type { HostResult } from './tool-host.ts';

export interface HostToolsOptions {
  /** The tools, from the registry. */
  readonly tools: readonly HostTool[];
  readonly host: Pick<SessionHosts, 'call' | 'closeThread' | 'close'>;
  readonly launcher: HostLauncher;
  readonly locks: Locks;
  readonly limits: ToolLimits;
}

/** The tools of a session that run in its tool host. */
export interface HostTools {
  readonly tools: readonly Tool[];
  /** Writes an output that is too long for the model to a file of the workspace, and returns its path. */
  readonly keep: (name: string, text: string, context: ToolContext) => Promise<string>;
  closeThread(threadId: string): Promise<void>;
  close(): Promise<void>;
}

/** Creates the tools. Inputs are checked in the server; the work runs in the host. */
export function createHostTools({ tools, host, launcher, locks, limits }: HostToolsOptions): HostTools {
  const { toolHostCallMs, bashTimeoutMs } = limits;
  /** The generation of the host process that has the shell of a thread, by thread. */
  const shells = new Map<string, number>();
  return {
    tools: tools.map(bind),
    keep: async (name, text, context) => {
      const { text: path, isError } = await host.call({ type: 'keep', name, text }, context, toolHostCallMs);
      if (isError) throw new ToolFailure(path);
      return path;
    },
    closeThread: async (threadId) => {
      shells.delete(threadId);
      await host.closeThread(threadId);
    },
    close: async () => await host.close(),
  };

  function bind({ name, define }: HostTool): Tool {
    return bindTool(define(limits), async (input, context) => {
      // The cast: every tool with a shell has this input.
      if (builtInTools[name].hasShell === true) return await runInShell(name, input as BashInput, context);
      return toResult(await run(name, input, context, toolHostCallMs));
    });
  }

  async function run(
    tool: WorkspaceToolName,
    input: unknown,
    context: ToolContext,
    timeoutMs: number,
  ): Promise<HostResult> {
    // The cast is safe because every input schema accepts only plain JSON.
    return await host.call({ type: 'run', threadId: context.threadId, tool, input: input as Json }, context, timeoutMs);
  }

  async function runInShell(name: WorkspaceToolName, input: BashInput, context: ToolContext): Promise<ToolResult> {
    const { command, restart, timeout_ms: timeoutMs } = input;
    if (restart !== true && (command ?? '') === '') throw new ToolFailure('give a command, or set restart');
    if (command?.includes('\0')) throw new ToolFailure('a command cannot have a NUL in it');
    // Commands of one thread wait for each other, even if the model requests several at once. The host enforces the
    // timeout of a command; if it has not answered some time after that, it hangs.
    return await waitInLine(context, async () => {
      await launcher.checkBash();
      const patienceMs = (timeoutMs ?? bashTimeoutMs) + toolHostCallMs;
      try {
        return toShellResult(input, context, await run(name, input, context, patienceMs));
      } finally {
        // An interrupt ends the shell with the command.
        if (context.signal.aborted) shells.set(context.threadId, NO_PROCESS);
      }
    });
  }

  /** The result of a command. If it ran in a new shell because the old one is gone, the result reports that. */
  function toShellResult({ restart }: BashInput, { threadId, hadShell }: ToolContext, result: HostResult): ToolResult {
    const { generation } = result;
    // A session that was idle for long, or on another server, has lost its shells.
    const before = shells.get(threadId) ?? (hadShell === true ? NO_PROCESS : generation);
    shells.set(threadId, generation);
    if (before === generation || restart === true) return toResult(result);
    return toResult({ ...result, text: `${LOST}\n\n${result.text}` });
  }

  /** Runs work in the turn of its thread. An interrupted call stops waiting at once. */
  async function waitInLine(context: ToolContext, work: () => Promise<ToolResult>): Promise<ToolResult> {
    const { threadId, signal } = context;
    return await new Promise((resolve, reject) => {
      const leave = (): void => reject(new Interrupted());
      signal.addEventListener('abort', leave, { once: true });
      const turn = locks.hold(`shell ${threadId}`, async () => {
        throwIfInterrupted(signal);
        signal.removeEventListener('abort', leave);
        return await work();
      });
      turn.then(resolve, reject);
    });
  }
}

const NO_PROCESS = -1;

const LOST =
  '(The last shell is gone, with its directory, variables and background processes: this is a new one, which began in the workspace.)';

function toResult({ text, isError }: HostResult): ToolResult {
  return textResult(text, { isError });
}
