import type { DatabaseTls, TlsFiles } from '@fleetloom/server';
import type { Io } from '../base/io.ts';
import { UsageError } from '../base/usage-error.ts';

/** Options of `serve` for https. */
export interface TlsOptions {
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly tlsClientCa?: string | undefined;
}

/** The files of certificates; undefined for http. Throws a usage error if one is missing. */
export function toTlsFiles({ tlsCert: cert, tlsKey: key, tlsClientCa: clientCa }: TlsOptions): TlsFiles | undefined {
  if (cert !== undefined && key !== undefined) return { cert, key, clientCa };
  if (cert === undefined && key === undefined && clientCa === undefined) return undefined;
  const missing = cert === undefined ? '--tls-cert' : '--tls-key';
  throw new UsageError(`${missing} is missing.`, 'Pass --tls-cert and --tls-key together.');
}

/** How connections to the database are encrypted: the option, else FLEETLOOM_DATABASE_TLS. */
export function toDatabaseTls(env: Io['env'], given: DatabaseTls | undefined): DatabaseTls | undefined {
  const text = given ?? (env['FLEETLOOM_DATABASE_TLS'] || undefined);
  if (text === undefined || text === 'verify' || text === 'unverified' || text === 'off') return text;
  throw new UsageError(`FLEETLOOM_DATABASE_TLS is "${text}".`, 'Set it to verify, unverified or off.');
}
