import { existsSync, readFileSync } from 'node:fs';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { FleetloomError } from '../../base/errors.ts';

/** The certificates of authorities that verify hosts, and that programs in sandboxes trust. */
export interface TrustedRoots {
  readonly pem: string;
  readonly context: SecureContext;
}

/** Reads the certificates of the system (or of Node, if it has none) and of the operator. Throws if a file cannot be read. */
export function readTrustedRoots(operatorFile: string | undefined): TrustedRoots {
  const file = SYSTEM_FILES.find((path) => existsSync(path));
  const system = file === undefined ? rootCertificates.join('\n') : readFileSync(file, 'utf8');
  const own = operatorFile === undefined ? '' : readOperatorFile(operatorFile);
  const pem = [system, own]
    .map((text) => text.trimEnd())
    .join('\n')
    .trim();
  return { pem: `${pem}\n`, context: createSecureContext({ ca: pem, minVersion: 'TLSv1.2' }) };
}

function readOperatorFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const problem = `the certificates of authorities in ${file} cannot be read`;
    const advice = 'pass a file in PEM with --egress-ca';
    throw new FleetloomError({ code: 'egress_ca_invalid', kind: 'caller', problem, advice, cause });
  }
}

/** The certificate files of Debian, Fedora and Alpine. */
const SYSTEM_FILES = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/cert.pem'];
