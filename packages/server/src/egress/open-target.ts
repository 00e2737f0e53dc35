import { connect, type Socket } from 'node:net';
import { toLookup } from '../base/to-lookup.ts';
import { findAddresses, type AddressRules } from '../tools/network/find-addresses.ts';
import type { ConnectionLog, EgressProtocol, LoggedConnection } from './connection-log.ts';
import { egressLimits } from './limits.ts';
import type { EgressPolicy, RefusalReason, Target } from './policy.ts';

/** Connects to one of the given addresses, and to no other address. */
export type Dial = (target: Target, addresses: readonly string[]) => Socket;

/** The rules for the targets that a session may connect to. */
export interface OpenTargetOptions extends AddressRules {
  readonly policy: EgressPolicy;
  readonly dial?: Dial | undefined;
}

/** A refused connection, with the status and message of the response to the client. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly reason: RefusalReason;
  readonly status: number;

  constructor(reason: RefusalReason, message: string, status = 403) {
    super(message);
    this.reason = reason;
    this.status = status;
  }
}

/** An open connection to a host. */
export interface OpenTarget {
  readonly far: Socket;
  /** Whether an entry of the policy names the port. */
  readonly isNamedPort: boolean;
}

/**
 * Opens a connection to a host that the policy allows, at an address that was checked after the name was resolved. Throws a
 * {@link Refusal}.
 */
export async function openTarget(options: OpenTargetOptions, target: Target, signal: AbortSignal): Promise<OpenTarget> {
  const verdict = options.policy.check(target);
  if (verdict.type === 'refused') throw new Refusal(verdict.reason, verdict.message);
  const addresses = await resolve(options, target, signal);
  const { dial = dialDirectly } = options;
  return { far: await untilConnected(dial(target, addresses), target, signal), isNamedPort: verdict.isNamedPort };
}

/** Logs an open connection before anything is sent to it. Throws a {@link Refusal} if one of its sides has gone in the meantime. */
export async function logOpened(
  log: ConnectionLog,
  far: Socket,
  target: Target,
  protocol: EgressProtocol,
): Promise<LoggedConnection> {
  const logged = await log.open(target, protocol).catch((error: unknown) => {
    far.destroy();
    throw error;
  });
  if (!far.destroyed) return logged;
  logged.close({ bytesSent: far.bytesWritten, bytesReceived: far.bytesRead });
  throw new Refusal('unreachable', `${target.host}:${target.port} has closed the connection`, 502);
}

async function resolve(options: OpenTargetOptions, target: Target, signal: AbortSignal): Promise<readonly string[]> {
  const { host, port } = target;
  const url = new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}`);
  const found = await findAddresses(url, options, signal).catch(() => ({ type: 'none' as const }));
  if (found.type === 'found') return found.addresses;
  if (found.type === 'none') throw new Refusal('name_not_found', `${host} has no address`, 502);
  const message = `${host} is not on the public internet: the operator of this server can allow it with --allow-private-host ${host}`;
  throw new Refusal('address_not_public', message);
}

const dialDirectly: Dial = ({ host, port }, addresses) => connect({ host, port, lookup: toLookup(addresses) });

async function untilConnected(far: Socket, { host, port }: Target, signal: AbortSignal): Promise<Socket> {
  return await new Promise((done, reject) => {
    const fail = (message: string) => {
      far.destroy();
      reject(new Refusal('unreachable', `${host}:${port} cannot be reached: ${message}`, 502));
    };
    const patience = setTimeout(() => fail('it does not answer'), egressLimits.connectMs);
    // The listener stays after the connect: a connection must not outlive its client, whatever is in progress when the client leaves.
    const abort = () => fail('the client is gone');
    signal.addEventListener('abort', abort, { once: true });
    far.once('close', () => {
      clearTimeout(patience);
      signal.removeEventListener('abort', abort);
    });
    far.on('error', (error) => fail(error.message));
    far.once('connect', () => {
      clearTimeout(patience);
      far.setNoDelay(true);
      done(far);
    });
    if (signal.aborted) abort();
  });
}
