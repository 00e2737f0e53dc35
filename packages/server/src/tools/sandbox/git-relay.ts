import type { ReadOnlyPath } from './sandbox.ts';

/** The access of git in the sandbox of a session to the repositories of the session, through a mounted socket. */
export interface SandboxGitRelay {
  /** The socket, as the sandbox shows it. */
  readonly socketPath: string;
  /** The port of loopback that has to be connected to the socket. The sandbox has a loopback of its own, so it is free. */
  readonly port: number;
  /** The socket and git's configuration. */
  readonly readOnlyPaths: readonly ReadOnlyPath[];
}
