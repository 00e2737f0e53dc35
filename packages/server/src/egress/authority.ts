import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { RecentMap } from '../base/collections/recent-map.ts';
import { bits, der, integer, octets, oid, sequence, set, text, truth, utcTime } from './der.ts';
import { egressLimits } from './limits.ts';

/** A certificate authority that exists in memory only, for the hosts whose TLS the proxy opens for one session. */
export interface Authority {
  /** The certificate of the authority, which programs of the session have to trust. */
  readonly certificate: string;
  /** A key and certificate for a host, to serve TLS with. */
  contextFor(host: string): SecureContext;
  /** A key and certificate for a host as PEM. */
  issue(host: string): { readonly key: string; readonly cert: string };
}

/** Makes an authority with a key of its own. The key never leaves this process. */
export function createAuthority(now: () => number = Date.now): Authority {
  const own = createKey();
  const hosts = createKey();
  const name = toName(`Fleetloom egress ${randomBytes(8).toString('hex')}`);
  const sealed = { issuer: name, issuerKey: own };
  const certificate = toCertificate({
    ...sealed,
    subject: name,
    key: own.publicKey,
    from: now() - EARLIER_MS,
    until: now() + AUTHORITY_MS,
    extensions: [
      extension(BASIC_CONSTRAINTS, sequence(truth(), integer(Buffer.from([0]))), true),
      usage(SIGNS_CERTIFICATES),
    ],
  });
  const issue = (host: string) => ({
    key: hosts.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: toCertificate({
      ...sealed,
      subject: toName(host.slice(0, COMMON_NAME_CHARS_MAX)),
      key: hosts.publicKey,
      from: now() - EARLIER_MS,
      until: now() + egressLimits.certificateMs,
      extensions: [
        extension(BASIC_CONSTRAINTS, sequence(), true),
        usage(SIGNS_HANDSHAKES),
        extension(EXTENDED_KEY_USAGE, sequence(oid(SERVER_AUTHENTICATION))),
        extension(SUBJECT_ALTERNATIVE_NAME, sequence(toAlternativeName(host))),
        extension(AUTHORITY_KEY_ID, sequence(der(0x80, toKeyId(own.publicKey)))),
      ],
    }),
  });
  const contexts = new RecentMap<{ readonly context: SecureContext; readonly madeAt: number }>({
    entriesMax: egressLimits.certificatesMax,
  });
  return {
    certificate,
    issue,
    contextFor: (host) => {
      const known = contexts.get(host);
      if (known !== undefined && now() - known.madeAt < egressLimits.certificateMs / 2) return known.context;
      const context = createSecureContext({ ...issue(host), minVersion: 'TLSv1.2' });
      contexts.set(host, { context, madeAt: now() });
      return context;
    },
  };
}

/** How long before now certificates begin. The sandbox has the same clock; this is a margin for programs that round times. */
const EARLIER_MS = 3_600_000;
/** How long the certificate of the authority is valid. It need not be renewed: programs read it once, and it is gone after the process. */
const AUTHORITY_MS = 30 * 24 * 3_600_000;
const COMMON_NAME_CHARS_MAX = 64;

const BASIC_CONSTRAINTS = '2.5.29.19';
const KEY_USAGE = '2.5.29.15';
const EXTENDED_KEY_USAGE = '2.5.29.37';
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17';
const SUBJECT_KEY_ID = '2.5.29.14';
const AUTHORITY_KEY_ID = '2.5.29.35';
const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1';
const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
/** Key usages as bit strings: the bits from the most significant one on, and the number of unused bits in the byte. */
const SIGNS_HANDSHAKES = bits(Buffer.from([0x80]), 7);
const SIGNS_CERTIFICATES = bits(Buffer.from([0x06]), 1);

interface CertificateOptions {
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly issuerKey: { readonly privateKey: KeyObject };
  readonly key: KeyObject;
  readonly from: number;
  readonly until: number;
  readonly extensions: readonly Buffer[];
}

/** A certificate of version 3 (RFC 5280), as PEM. */
function toCertificate({ subject, issuer, issuerKey, key, from, until, extensions }: CertificateOptions): string {
  const all = [...extensions, extension(SUBJECT_KEY_ID, octets(toKeyId(key)))];
  const content = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    issuer,
    sequence(utcTime(from), utcTime(until)),
    subject,
    key.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...all)),
  );
  const whole = sequence(content, ECDSA_WITH_SHA256, bits(sign('sha256', content, issuerKey.privateKey)));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function createKey() {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
}

function toName(commonName: string): Buffer {
  return sequence(set(sequence(oid('2.5.4.3'), text(commonName))));
}

function extension(id: string, content: Buffer, isCritical = false): Buffer {
  return sequence(oid(id), ...(isCritical ? [truth()] : []), octets(content));
}

function usage(content: Buffer): Buffer {
  return extension(KEY_USAGE, content, true);
}

function toAlternativeName(host: string): Buffer {
  if (isIP(host) === 0) return der(0x82, Buffer.from(host, 'latin1'));
  return der(0x87, Buffer.from(toAddressBytes(host)));
}

function toAddressBytes(address: string): number[] {
  if (isIP(address) === 4) return address.split('.').map(Number);
  const [first = [], last = []] = address.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const groups = [...first, ...Array.from({ length: 8 - first.length - last.length }, () => '0'), ...last];
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]);
}

function toKeyId(key: KeyObject): Buffer {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20);
}
