import type { ReadOnlyPath } from './sandbox.ts';

/** The access of programs in the sandbox of a session to other hosts, through a mounted socket of the egress proxy. */
export interface SandboxEgress {
  /** The socket, as the sandbox shows it. */
  readonly socketPath: string;
  /** The port of loopback that has to be connected to the socket. The sandbox has a loopback of its own, so it is free. */
  readonly port: number;
  /** The socket, and the certificates that programs have to trust. */
  readonly readOnlyPaths: readonly ReadOnlyPath[];
  /** Variables of programs that agents start: the proxy, certificates, and placeholders of secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** The certificates and variables without the socket and the proxy, for programs that reach the proxy in another way. */
  readonly trust: {
    readonly readOnlyPaths: readonly ReadOnlyPath[];
    readonly environment: Readonly<Record<string, string>>;
  };
}
