import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity, type ConnectionOptions, type PeerCertificate } from 'node:tls';
import { storeError } from '../store-errors.ts';

/**
 * How connections to a database on another machine are encrypted: `verify` checks its certificate, `unverified` does not,
 * `off` sends everything in the clear. For a database on this machine its URL decides.
 */
export type DatabaseTls = 'verify' | 'unverified' | 'off';

/** The URL for the driver, and its TLS settings. An absent field leaves a setting to the URL. */
export interface DatabaseConnection {
  readonly connectionString: string;
  readonly ssl?: ConnectionOptions | false;
}

/** Parameters of a URL that would override the TLS settings. */
const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'uselibpqcompat'];
/** Values of `sslmode` that would not verify the certificate. */
const WEAK_MODES: ReadonlySet<string | null> = new Set(['disable', 'allow', 'prefer', 'no-verify']);

/** Verifies databases on other machines, unless the caller has explicitly switched that off: a URL alone cannot. */
export function toDatabaseConnection(url: string, tls: DatabaseTls = 'verify'): DatabaseConnection {
  if (!URL.canParse(url)) return { connectionString: url };
  const parsed = new URL(url);
  const { searchParams: given } = parsed;
  const host = given.get('host') ?? (decodeURIComponent(parsed.hostname) || process.env['PGHOST'] || 'localhost');
  if (isLocalHost(host)) return { connectionString: url };
  const mode = given.get('sslmode');
  const isWeak = WEAK_MODES.has(mode) || ['0', 'false'].includes(given.get('ssl') ?? '');
  if (isWeak && tls === 'verify') throw weakMode(mode ?? 'disable');
  const files = { ca: given.get('sslrootcert'), cert: given.get('sslcert'), key: given.get('sslkey') };
  for (const name of TLS_PARAMETERS) given.delete(name);
  const connectionString = parsed.href;
  if (tls === 'off') return { connectionString, ssl: false };
  if (tls === 'unverified') return { connectionString, ssl: { rejectUnauthorized: false } };
  const name = host.replace(/^\[|\]$/g, '');
  const texts = Object.entries(files).flatMap(([field, file]) => (file === null ? [] : [[field, readPem(file)]]));
  return {
    connectionString,
    ssl: {
      ...(Object.fromEntries(texts) as Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>),
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2',
      // The driver passes no host name if the host is an address; any certificate for `localhost` would then be accepted.
      checkServerIdentity: (_: string, certificate: PeerCertificate) => checkServerIdentity(name, certificate),
    },
  };
}

/** Whether connections do not leave this machine: loopback, and sockets of the file system. */
export function isLocalHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  return (
    name.startsWith('/') || name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'))
  );
}

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw storeError('store_failed', `${file}, which the URL of the database names, cannot be read`, cause);
  }
}

function weakMode(mode: string): Error {
  const problem = `sslmode=${mode} in the URL of the database does not verify its certificate`;
  return storeError('store_failed', `${problem}: remove it, or start with --database-tls unverified or off`);
}
