import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import type { z } from 'zod';
import { FleetloomError } from '../base/errors.ts';
import { signOnLimits } from './limits.ts';
import { type IssuerFields, type OidcFile, oidcFile } from './oidc-config.ts';

/** The configuration of single sign-on, checked, with its secrets. */
export interface OidcConfig extends Omit<OidcFile, 'issuers'> {
  readonly issuers: readonly IssuerConfig[];
}

/** One provider with its client secret. Without a secret this server is a public client, protected by PKCE. */
export interface IssuerConfig extends IssuerFields {
  readonly clientSecret?: string | undefined;
}

/** Reads a configuration file in YAML or JSON, and the secrets that it names. Throws an error that names the file and the field. */
export async function readOidcConfig(file: string, env: NodeJS.ProcessEnv): Promise<OidcConfig> {
  const checked = oidcFile.safeParse(parseText(file, await readText(file)));
  if (!checked.success) throw invalid(file, ...toProblem(checked.error));
  const issuers: IssuerConfig[] = [];
  for (const each of checked.data.issuers) issuers.push({ ...each, ...(await readSecret(file, each, env)) });
  return { ...checked.data, issuers };
}

async function readText(file: string): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size > signOnLimits.configBytesMax) {
      throw invalid(file, `has ${size} bytes, and ${signOnLimits.configBytesMax} are allowed`, 'shorten it');
    }
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (cause instanceof FleetloomError) throw cause;
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw invalid(file, `cannot be read (${code})`, 'check the path and who may read the file', cause);
  }
}

function parseText(file: string, text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 0 });
  } catch (cause) {
    // Only the first line of the message: the other lines quote the file.
    const [reason = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
    throw invalid(file, `is not YAML or JSON: ${reason}`, 'correct it', cause);
  }
}

async function readSecret(
  file: string,
  { id, client_secret_file: secretFile, client_secret_env: variable }: IssuerFields,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly clientSecret?: string }> {
  if (variable !== undefined) {
    const secret = env[variable]?.trim();
    if (secret) return { clientSecret: secret };
    throw invalid(file, `issuer ${id}: the environment variable ${variable} is not set`, 'set it to the client secret');
  }
  if (secretFile === undefined) return {};
  const path = resolve(dirname(file), secretFile);
  const secret = await readFile(path, 'utf8').then(
    (text) => text.trim(),
    (cause: NodeJS.ErrnoException) => {
      throw invalid(file, `issuer ${id}: ${path} cannot be read (${cause.code})`, 'check client_secret_file', cause);
    },
  );
  if (secret !== '') return { clientSecret: secret };
  throw invalid(file, `issuer ${id}: ${path} is empty`, 'write the client secret into it');
}

function toProblem(error: z.ZodError): [problem: string, advice: string] {
  const [first] = error.issues;
  const path = first!.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  const isSecret = first!.code === 'unrecognized_keys' && first.keys.includes('client_secret');
  const advice = isSecret
    ? 'keep the secret in a file or the environment: client_secret_file or client_secret_env'
    : 'docs/single-sign-on.md lists every field';
  return [`${path.replace(/^\./, '') || 'the file'}: ${first!.message}`, advice];
}

function invalid(file: string, problem: string, advice: string, cause?: unknown): FleetloomError {
  return new FleetloomError({
    code: 'invalid_oidc_config',
    kind: 'caller',
    problem: `--oidc-config ${file}: ${problem}`,
    advice,
    cause,
  });
}
