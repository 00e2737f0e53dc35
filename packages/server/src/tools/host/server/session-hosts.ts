import type { HostCall } from '../contract/messages.ts';
import type { ToolContext } from '../../tool.ts';
import type { HostResult, ToolHost } from './tool-host.ts';

/** The tool hosts of one session: one for its workspace, and one for each thread that works in a worktree of its own. */
export class SessionHosts {
  readonly #create: (worktreeOwner: string | null) => ToolHost;
  readonly #hosts = new Map<string | null, ToolHost>();

  constructor(create: (worktreeOwner: string | null) => ToolHost) {
    this.#create = create;
    // Created without a call, so that requests to a closed session fail.
    this.#hosts.set(null, create(null));
  }

  /** Runs a call in the host of the directory that its thread works in. */
  async call(call: HostCall, context: ToolContext, timeoutMs: number): Promise<HostResult> {
    const owner = context.worktreeOwner ?? null;
    const host = this.#hosts.get(owner) ?? this.#create(owner);
    this.#hosts.set(owner, host);
    return await host.call(call, context, timeoutMs);
  }

  /** Ends the shell of a thread, and its host if it has one of its own. */
  async closeThread(threadId: string): Promise<void> {
    const own = this.#hosts.get(threadId);
    this.#hosts.delete(threadId);
    await Promise.all([own?.close(), ...[...this.#hosts.values()].map((host) => host.closeThread(threadId))]);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#hosts.values()].map((host) => host.close()));
  }
}
