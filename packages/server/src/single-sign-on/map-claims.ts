import { cutText } from '@fleetloom/protocol/fleet';
import type { Person } from '../keys/person.ts';
import { ROLE_NAMES, type Role } from '../keys/scopes.ts';
import { signOnLimits } from './limits.ts';
import type { Grant } from './oidc-config.ts';
import type { IssuerConfig } from './read-oidc-config.ts';

/** The claims of a provider about a person. */
export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** The workspace and role of a person, or the reason why the person has none. */
export type MappedPerson =
  | { readonly type: 'granted'; readonly person: Person; readonly workspaceId: string; readonly role: Role }
  | { readonly type: 'refused'; readonly person: Person; readonly reason: RefusalReason };

/** Why a person who signed in at a provider is rejected. */
export type RefusalReason = 'email_not_verified' | 'domain_not_allowed' | 'group_not_allowed' | 'no_grant';

/**
 * Maps claims to a workspace and role. The first matching grant determines the workspace, unless the person asks for another one that a
 * grant matches. Of the grants for that workspace the role with the most rights counts. Without a matching grant the person is rejected.
 */
export function mapClaims(config: IssuerConfig, issuer: string, claims: Claims, wanted?: string): MappedPerson {
  const person = toPerson(issuer, claims);
  const refuse = (reason: RefusalReason): MappedPerson => ({ type: 'refused', person, reason });
  const groups = new Set(readList(findClaim(claims, config.groups_claim)));
  const email = findVerifiedEmail(config, claims);
  if (config.allowed_domains !== undefined) {
    if (email === undefined) return refuse('email_not_verified');
    const domain = email.slice(email.lastIndexOf('@') + 1);
    if (!config.allowed_domains.includes(domain)) return refuse('domain_not_allowed');
  }
  const { allowed_groups: allowed } = config;
  if (allowed !== undefined && !allowed.some((group) => groups.has(group))) return refuse('group_not_allowed');
  const matching = config.grants.filter((each) => matches(each, { claims, groups, email }));
  const workspaceId = (matching.find(({ workspace }) => workspace === wanted) ?? matching[0])?.workspace;
  if (workspaceId === undefined) return refuse('no_grant');
  const roles = matching.filter(({ workspace }) => workspace === workspaceId).map(({ role }) => role);
  const role = ROLE_NAMES.findLast((name) => roles.includes(name))!;
  return { type: 'granted', person, workspaceId, role };
}

function toPerson(issuer: string, claims: Claims): Person {
  const { email, name } = claims;
  return {
    issuer,
    subject: claims.sub,
    ...(typeof email === 'string' && email !== '' ? { email: cutText(email, signOnLimits.emailCharsMax) } : {}),
    ...(typeof name === 'string' && name !== '' ? { name: cutText(name, signOnLimits.nameCharsMax) } : {}),
  };
}

/** The email of a person, if it is verified or the configuration accepts unverified ones: some providers let people enter any address. */
function findVerifiedEmail(config: IssuerConfig, claims: Claims): string | undefined {
  const { email, email_verified: isVerified } = claims;
  const counts = isVerified === true || isVerified === 'true' || config.accept_unverified_email;
  return typeof email === 'string' && /.@./.test(email) && counts ? email.toLowerCase() : undefined;
}

/** Finds a claim by its name, which may contain dots, or else by its path, such as `realm_access.roles`. */
function findClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let found: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined;
    found = (found as Record<string, unknown>)[part];
  }
  return found;
}

function readList(value: unknown): readonly string[] {
  const items = Array.isArray(value) ? value.slice(0, signOnLimits.groupsMax) : [value];
  return items.filter((item): item is string => typeof item === 'string');
}

interface Known {
  readonly claims: Claims;
  readonly groups: ReadonlySet<string>;
  readonly email: string | undefined;
}

function matches(grant: Grant, { claims, groups, email }: Known): boolean {
  const { groups: ofGroups, emails, claims: wanted = {} } = grant;
  if (ofGroups !== undefined && !ofGroups.some((group) => groups.has(group))) return false;
  if (emails !== undefined && (email === undefined || !emails.includes(email))) return false;
  return Object.entries(wanted).every(([name, value]) => {
    const found = findClaim(claims, name);
    return readList(typeof found === 'boolean' || typeof found === 'number' ? String(found) : found).includes(value);
  });
}
