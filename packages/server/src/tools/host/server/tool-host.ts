import { builtInTools } from '@fleetloom/protocol/managed-agents';
import { lstat } from 'node:fs/promises';
import { type Clock, systemClock } from '../../../base/clock.ts';
import { ignoringFailure } from '../../../base/in-background.ts';
import type { ToolContext } from '../../tool.ts';
import { Interrupted, ToolFailure } from '../../tool-failure.ts';
import type { ToolLimits } from '../../tool-limits.ts';
import { settlesWithin } from '../../settles-within.ts';
import { CallSlots } from '../../call-slots.ts';
import { HostConnection } from './host-connection.ts';
import type { HostLaunch, HostLauncher } from './host-launch.ts';
import type { HostAnswer, HostCall } from '../contract/messages.ts';
import type { LiveHost, ToolHosts } from './tool-hosts.ts';

export interface ToolHostOptions {
  readonly hosts: ToolHosts;
  readonly launcher: HostLauncher;
  readonly limits: ToolLimits;
  /** Limits that differ from the defaults. */
  readonly changedLimits?: Partial<ToolLimits> | undefined;
  readonly clock?: Clock | undefined;
  /** Finds the API workspace that the session belongs to. */
  readonly findTenant?: (() => Promise<string | undefined>) | undefined;
}

/** The result of a tool call, and the host process that returned it. */
export type HostResult = Pick<HostAnswer, 'text' | 'isError'> & {
  /** The number of the host process. Shells of earlier processes are gone. */
  readonly generation: number;
};

/**
 * The tool host of one session: a process that runs its tools. It is started by the first call, and again by the first call
 * after it has ended for any reason.
 */
export class ToolHost implements LiveHost {
  readonly #options: ToolHostOptions;
  readonly #clock: Clock;
  readonly #commands: CallSlots;
  readonly #others: CallSlots;
  readonly #closing = new AbortController();
  /** The process that was started last. */
  #process: HostedProcess | undefined;
  #starting: Promise<HostedProcess> | undefined;
  #underWay = 0;
  #usedAt = 0;
  #tenant: string | undefined;

  constructor(options: ToolHostOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#commands = new CallSlots(options.limits.toolHostCommandsMax);
    this.#others = new CallSlots(options.limits.toolHostCallsMax);
  }

  get isIdle(): boolean {
    return this.#underWay === 0 && this.#starting === undefined;
  }

  get shells(): number {
    return this.#process?.connection.shells ?? 0;
  }

  get tenant(): string | undefined {
    return this.#tenant;
  }

  get usedAt(): number {
    return this.#usedAt;
  }

  /** Runs a call. Throws a {@link ToolFailure} if it gets no answer: the process ended, hung, or could not be started. */
  async call(call: HostCall, { openWorkspace, signal }: ToolContext, timeoutMs: number): Promise<HostResult> {
    this.#underWay++;
    try {
      // Commands have slots of their own, because they may take ten minutes and must not block calls that read a file.
      const slots = call.type === 'run' && builtInTools[call.tool].hasShell === true ? this.#commands : this.#others;
      return await slots.hold(signal, async () => {
        const opening = this.#open(await openWorkspace());
        const { connection, generation } = await unlessInterrupted(opening, signal);
        const { text, isError } = await connection.call(call, { timeoutMs, signal });
        return { text, isError, generation };
      });
    } finally {
      this.#underWay--;
      this.#usedAt = this.#clock.steady();
      this.#options.hosts.hostIsIdle();
    }
  }

  /** Ends the shell of a thread, if it has one. */
  async closeThread(threadId: string): Promise<void> {
    const { toolHostCallMs: timeoutMs } = this.#options.limits;
    // If the call fails, the process has ended, and the shell with it.
    await this.#process?.connection.call({ type: 'close_thread', threadId }, { timeoutMs }).catch(() => undefined);
  }

  evict(): void {
    this.#process?.connection.end('another session needed its place');
  }

  /** Kills the process with all processes that it started. Calls in progress fail. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#process?.connection.close();
    await settlesWithin(Promise.resolve(this.#starting), GONE_MS);
    await settlesWithin(Promise.resolve(this.#process?.connection.gone), GONE_MS);
  }

  async #open(workspace: string): Promise<HostedProcess> {
    const workspaceId = await identify(workspace);
    if (this.#closing.signal.aborted) throw new ToolFailure('the session is closed');
    if (this.#starting !== undefined) return await this.#starting;
    const current = this.#process;
    if (current !== undefined && current.workspaceId !== workspaceId) {
      current.connection.end('its workspace was replaced by another directory');
    }
    if (current !== undefined && !current.connection.isEnded) return current;
    this.#starting = this.#start(workspace, workspaceId).finally(() => {
      this.#starting = undefined;
    });
    return await this.#starting;
  }

  async #start(workspace: string, workspaceId: string): Promise<HostedProcess> {
    const { limits, changedLimits = {} } = this.#options;
    // Waits, because processes of the last host would work on the same files.
    await settlesWithin(Promise.resolve(this.#process?.connection.gone), GONE_MS);
    const { connection, programs, environment } = await this.#spawn(workspace);
    this.#process = { connection, workspaceId, generation: (this.#process?.generation ?? 0) + 1 };
    if (this.#closing.signal.aborted) connection.close();
    const open = { type: 'open', workspace, programs, environment, limits: changedLimits } as const;
    await connection.call(open, { timeoutMs: limits.toolHostStartMs });
    return this.#process;
  }

  /** Starts a process in one of the slots that the hosts of all sessions share. It releases the slot when it is gone. */
  async #spawn(workspace: string): Promise<Omit<HostLaunch, 'launch'> & { connection: HostConnection }> {
    const { hosts, launcher, limits, findTenant } = this.#options;
    const { signal } = this.#closing;
    this.#tenant ??= await findTenant?.();
    const leave = await hosts.enter(this, signal);
    try {
      const { launch, ...opened } = await launcher.prepare(workspace);
      if (signal.aborted) throw new ToolFailure('the session is closed');
      const connection = await HostConnection.start({ launch, workspace, limits });
      ignoringFailure(connection.gone.finally(leave));
      return { ...opened, connection };
    } catch (error) {
      leave();
      throw error;
    }
  }
}

interface HostedProcess {
  readonly connection: HostConnection;
  readonly workspaceId: string;
  readonly generation: number;
}

/** How long to wait for the end of a killed process. A process that hangs in the kernel may never end. */
const GONE_MS = 5_000;

/** The identity of the workspace directory, even if its path is replaced: a sandbox keeps the directory that it was started with. */
async function identify(workspace: string): Promise<string> {
  const stats = await lstat(workspace).catch(() => undefined);
  if (stats?.isDirectory()) return `${stats.dev}:${stats.ino}`;
  throw new ToolFailure(`the workspace ${workspace} is ${stats === undefined ? 'not there' : 'not a directory'}`);
}

async function unlessInterrupted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return await new Promise((resolve, reject) => {
    const leave = (): void => reject(new Interrupted());
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
