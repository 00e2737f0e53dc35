import { isIP } from 'node:net';
import { z } from 'zod';
import { DEFAULT_WORKSPACE } from '../keys/credential.ts';
import { ROLE_NAMES } from '../keys/scopes.ts';
import { signOnLimits } from './limits.ts';

/** A rule that gives people a role in a workspace. Every condition that it has must hold. */
export type Grant = z.output<typeof grant>;

/** One OpenID provider in the configuration file. Its secret is read from a file or variable that the configuration names. */
export type IssuerFields = z.output<typeof issuer>;

/** The content of the file given with `--oidc-config`. */
export type OidcFile = z.output<typeof oidcFile>;

const text = z.string().trim().min(1).max(2_048);
const values = z.array(text).min(1).max(signOnLimits.grantValuesMax);
const domain = text.toLowerCase().regex(/^[a-z0-9.-]+$/, 'must be a domain such as example.com');

const grant = z
  .strictObject({
    /** The person must be in one of these groups. */
    groups: values.exactOptional(),
    /** The verified email of the person must be one of these. */
    emails: z.array(text.toLowerCase()).min(1).max(signOnLimits.grantValuesMax).exactOptional(),
    /** Each claim must have this value, or be a list that contains it. */
    claims: z.record(text, text).exactOptional(),
    any_account: z.literal(true).exactOptional(),
    role: z.enum(ROLE_NAMES),
    workspace: text.default(DEFAULT_WORKSPACE),
  })
  .refine(({ any_account, groups, emails, claims }) => (any_account === true) !== Boolean(groups ?? emails ?? claims), {
    message: 'needs groups, emails or claims, or else "any_account: true"',
  });

const issuer = z
  .strictObject({
    /** The id of the provider, which is a part of the callback URL. */
    id: z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, 'must be lower-case letters, digits and hyphens, at most 31'),
    /** The text of the sign-in button. */
    name: text.max(60),
    issuer: text.refine(isSafeUrl, 'must be an https URL without query; http only on this machine'),
    client_id: text,
    client_secret_file: text.exactOptional(),
    client_secret_env: z
      .string()
      .regex(/^[A-Za-z_]\w*$/, 'must be the name of an environment variable')
      .exactOptional(),
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/))
      .max(50)
      .default(['openid', 'email', 'profile']),
    groups_claim: text.default('groups'),
    userinfo: z.boolean().default(true),
    clock_skew_seconds: z.int().min(0).max(signOnLimits.clockSkewSecondsMax).default(signOnLimits.clockSkewSeconds),
    allowed_domains: z.array(domain).min(1).exactOptional(),
    allowed_groups: values.exactOptional(),
    accept_unverified_email: z.boolean().default(false),
    grants: z.array(grant).min(1).max(signOnLimits.grantsMax),
  })
  .refine(({ client_secret_file: file, client_secret_env: env }) => file === undefined || env === undefined, {
    message: 'has client_secret_file and client_secret_env: keep one of them',
  })
  .refine(({ scopes }) => scopes.includes('openid'), { path: ['scopes'], message: 'must contain openid' })
  .refine(
    ({ issuer: url }) => !/^https:\/\/login\.microsoftonline\.com\/(common|organizations|consumers)\b/.test(url),
    {
      path: ['issuer'],
      message: 'must name one tenant: common, organizations and consumers would let in the accounts of every tenant',
    },
  );

/** The schema of the configuration file. */
export const oidcFile = z
  .strictObject({
    public_url: text
      .refine(isSafeUrl, 'must be the https URL that browsers use, without query; http only on this machine')
      .transform((url) => url.replace(/\/+$/, '')),
    session_hours: z.number().positive().max(signOnLimits.sessionHoursMax).default(signOnLimits.sessionHours),
    issuers: z.array(issuer).min(1).max(signOnLimits.issuersMax),
  })
  .refine(({ issuers }) => isDistinct(issuers.map(({ id }) => id)), {
    path: ['issuers'],
    message: 'two of them have the same id',
  })
  .refine(({ issuers }) => isDistinct(issuers.map(({ issuer: url }) => url.replace(/\/+$/, ''))), {
    path: ['issuers'],
    message: 'two of them have the same issuer: give one of them grants for both',
  });

/** Whether a URL uses https or is on this machine: tokens and codes are sent to these URLs. */
function isSafeUrl(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || url.search !== '' || url.hash !== '' || url.username !== '') return false;
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const isHere = name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere);
}

function isDistinct(items: readonly string[]): boolean {
  return new Set(items).size === items.length;
}
