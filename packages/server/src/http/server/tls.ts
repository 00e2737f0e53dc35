import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { requestError } from '../../base/request-error.ts';

/** The certificate files of a server that uses https. */
export interface TlsFiles {
  /** The path of the server's certificate, followed by its chain, in PEM. */
  readonly cert: string;
  /** The path of the private key, in PEM. */
  readonly key: string;
  /** The path of certificate authorities. With it, only clients with a certificate of one of them are accepted. */
  readonly clientCa?: string | undefined;
}

/** The checked content of the files. */
export interface LoadedTls {
  readonly context: SecureContextOptions;
  readonly requiresClients: boolean;
  /** The DNS names and addresses of the certificate, without wildcards. */
  readonly names: readonly string[];
  /** When the certificate expires. */
  readonly endsAt: number;
}

/** Reads and checks the files. Throws an error that names the file and what to do. */
export async function loadTls({ cert, key, clientCa }: TlsFiles): Promise<LoadedTls> {
  const [certText, keyText, caText] = await Promise.all([
    read('certificate', cert),
    read('private key', key),
    clientCa === undefined ? undefined : read('certificate authority', clientCa),
  ]);
  const certificate = parse('certificate', cert, certText);
  if (clientCa !== undefined) parse('certificate authority', clientCa, caText!);
  const context: SecureContextOptions = {
    cert: certText,
    key: keyText,
    minVersion: 'TLSv1.2',
    ...(caText === undefined ? {} : { ca: caText }),
  };
  try {
    createSecureContext(context);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw unusable(`${key} is not the private key of the certificate ${cert}: ${reason}`, cause);
  }
  return {
    context,
    requiresClients: clientCa !== undefined,
    names: toNames(certificate),
    endsAt: Date.parse(certificate.validTo),
  };
}

async function read(what: string, file: string): Promise<string> {
  return await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw unusable(`the ${what} ${file} cannot be read: ${cause.code ?? cause.message}`, cause);
  });
}

function parse(what: string, file: string, text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (cause) {
    throw unusable(`${file} is not a ${what} in PEM`, cause);
  }
}

function toNames({ subjectAltName = '' }: X509Certificate): readonly string[] {
  return subjectAltName
    .split(', ')
    .flatMap((part) => /^(?:DNS|IP Address):([^"*\s]+)$/.exec(part)?.[1] ?? [])
    .map((name) => name.toLowerCase());
}

function unusable(problem: string, cause: unknown): Error {
  return requestError('tls_unusable', problem, { cause });
}
