import { FleetloomError } from '../base/errors.ts';
import type { DatabaseTls } from '../store/postgres/database-tls.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';

/** The PostgreSQL database that the operator has configured. */
export interface DatabaseChoice {
  readonly url: string;
  /** The URL for LISTEN, if `url` points to a pooler in transaction mode. */
  readonly listenUrl?: string | undefined;
  readonly tls?: DatabaseTls | undefined;
  /** Whether the caller depends on notifications: then the start fails if they do not arrive. */
  readonly checksSignals?: boolean | undefined;
}

/** Opens the store in a PostgreSQL database. Its code is loaded only when this is called. */
export async function openDatabase({ url, listenUrl, tls, checksSignals = false }: DatabaseChoice): Promise<Store> {
  const { openPostgresStore } = await import('../store/postgres/postgres-store.ts');
  try {
    return await openPostgresStore({ url, tls, checksSignals, ...(listenUrl === undefined ? {} : { listenUrl }) });
  } catch (error) {
    throw isStoreError(error, 'store_failed') ? toAdvised(error, url) : error;
  }
}

/** Adds advice for the operator. */
function toAdvised(error: Error, url: string): FleetloomError {
  const advice = codesOf(error)
    .map((code) => adviceOf[code])
    .find((each) => each !== undefined);
  const address = toAddress(url);
  const reason = innermost(error).message;
  return new FleetloomError({
    code: 'database_unusable',
    kind: 'terminal',
    problem: `the database ${address} cannot be used: ${reason}`,
    advice: advice ?? (reason.includes('does not support SSL') ? noTls : 'see what the database says about it'),
    cause: error,
  });
}

const unreachable = 'start the database, and check host and port of --database or FLEETLOOM_DATABASE';
const notAllowed = 'check user and password of --database or FLEETLOOM_DATABASE, and pg_hba.conf of the database';

const noTls = 'switch TLS on in the database, or send everything in the clear with --database-tls off';
const notVerified =
  'name its certificate authority with ?sslrootcert=<file> in the URL, or with NODE_EXTRA_CA_CERTS; --database-tls unverified does not check it';

/** Advice by error code of Node or PostgreSQL. */
const adviceOf: Readonly<Record<string, string | undefined>> = {
  ECONNREFUSED: unreachable,
  ECONNRESET: unreachable,
  ENOTFOUND: unreachable,
  EAI_AGAIN: unreachable,
  EHOSTUNREACH: unreachable,
  ETIMEDOUT: unreachable,
  DEPTH_ZERO_SELF_SIGNED_CERT: notVerified,
  SELF_SIGNED_CERT_IN_CHAIN: notVerified,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: notVerified,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: notVerified,
  ERR_TLS_CERT_ALTNAME_INVALID: 'use the host name that the certificate of the database is for',
  CERT_HAS_EXPIRED: 'renew the certificate of the database',
  '28P01': notAllowed,
  '28000': notAllowed,
  '3D000': 'make it with `createdb`, or name another one',
  '42501': 'let this user make a schema: GRANT CREATE ON DATABASE … TO …',
  '53300': 'raise max_connections of the database, or run fewer nodes',
  '57P03': 'wait until the database has started',
};

function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const parts = error instanceof AggregateError ? error.errors.flatMap(codesOf) : [];
  const { code } = error as { code?: unknown };
  return [...(typeof code === 'string' ? [code] : []), ...parts, ...codesOf(error.cause)];
}

/** The first cause of an error: an aggregate of several attempts has no message. */
function innermost(error: Error): Error {
  if (error.cause instanceof Error) return innermost(error.cause);
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return first instanceof Error ? innermost(first) : error;
}

/** The address of the database without user and password. */
function toAddress(url: string): string {
  if (!URL.canParse(url)) return 'that was given';
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
