import { expect, it } from 'vitest';
import { signOnLimits } from './limits.ts';
import { mapClaims } from './map-claims.ts';
import { oidcFile } from './oidc-config.ts';

const ISSUER = 'https://id.example.com';

function map(fields: object, claims: object, wanted?: string) {
  const issuer = { id: 'acme', name: 'Acme', issuer: ISSUER, client_id: 'c', ...fields };
  const { issuers } = oidcFile.parse({ public_url: 'https://fleet.example.com', issuers: [issuer] });
  const mapped = mapClaims(issuers[0]!, ISSUER, { sub: 's', ...claims }, wanted);
  return mapped.type === 'granted' ? `${mapped.role} of ${mapped.workspaceId}` : mapped.reason;
}

const STAFF = [{ groups: ['staff'], role: 'operator' }];
const ANY_ACCOUNT = [{ any_account: true, role: 'viewer' }];
const VERIFIED = { email: 'Ann@Example.com', email_verified: true };

it('[ID52] a person without a matching grant is refused, and the role with the most rights of the grants that match counts', () => {
  expect(map({ grants: STAFF }, { groups: ['staff'] })).toBe('operator of wrkspc_default');
  expect(map({ grants: STAFF }, { groups: 'staff' })).toBe('operator of wrkspc_default');
  for (const groups of [undefined, null, [], ['Staff'], ['staff '], { staff: true }, 'staff,other', [['staff']], 1]) {
    expect([groups, map({ grants: STAFF }, { groups })]).toEqual([groups, 'no_grant']);
  }
  expect(map({ grants: ANY_ACCOUNT }, {})).toBe('viewer of wrkspc_default');
  const several = [
    ...ANY_ACCOUNT,
    { groups: ['ops'], role: 'admin' },
    ...STAFF,
    { groups: ['ops'], role: 'admin', workspace: 'w2' },
  ];
  expect(map({ grants: several }, { groups: ['staff', 'ops'] })).toBe('admin of wrkspc_default');
  expect(map({ grants: several }, { groups: ['ops'] }, 'w2')).toBe('admin of w2');
  expect(map({ grants: several }, { groups: ['staff'] }, 'w2')).toBe('operator of wrkspc_default');
});

it('[ID52] emails and domains count only if the provider has verified them, unless the configuration accepts others', () => {
  const grants = [{ emails: ['ann@example.com'], role: 'viewer' }];
  expect(map({ grants }, VERIFIED)).toBe('viewer of wrkspc_default');
  expect(map({ grants }, { ...VERIFIED, email_verified: 'true' })).toBe('viewer of wrkspc_default');
  for (const verified of [false, undefined, 'false', 1, 'yes']) {
    expect(map({ grants }, { ...VERIFIED, email_verified: verified })).toBe('no_grant');
  }
  expect(map({ grants, accept_unverified_email: true }, { email: 'ann@example.com' })).toBe('viewer of wrkspc_default');
  const domains = { allowed_domains: ['Example.com'], grants: ANY_ACCOUNT };
  expect(map(domains, VERIFIED)).toBe('viewer of wrkspc_default');
  expect(map(domains, { email: 'ann@example.com' })).toBe('email_not_verified');
  expect(map(domains, {})).toBe('email_not_verified');
  expect(map(domains, { ...VERIFIED, email: 'example.com' })).toBe('email_not_verified');
  for (const email of ['ann@evil.com', 'ann@example.com@evil.com', 'ann@sub.example.com', 'ann@example.com.']) {
    expect([email, map(domains, { ...VERIFIED, email })]).toEqual([email, 'domain_not_allowed']);
  }
});

it('[ID52] allowed groups come before every grant; claims have dots in their names or are paths', () => {
  const allowed = { allowed_groups: ['staff'], grants: ANY_ACCOUNT };
  expect(map(allowed, {})).toBe('group_not_allowed');
  expect(map(allowed, { groups: ['staff'] })).toBe('viewer of wrkspc_default');
  const named = { groups_claim: 'https://example.com/roles', grants: STAFF };
  expect(map(named, { 'https://example.com/roles': ['staff'] })).toBe('operator of wrkspc_default');
  const path = { groups_claim: 'realm_access.roles', grants: STAFF };
  expect(map(path, { realm_access: { roles: ['staff'] } })).toBe('operator of wrkspc_default');
  expect(map({ groups_claim: 'constructor.name', grants: [{ groups: ['Object'], role: 'admin' }] }, {})).toBe(
    'no_grant',
  );
  const claims = [{ claims: { hd: 'example.com', 'org.id': '7' }, role: 'viewer' }];
  expect(map({ grants: claims }, { hd: 'example.com', org: { id: 7 } })).toBe('viewer of wrkspc_default');
  expect(map({ grants: claims }, { hd: 'example.com' })).toBe('no_grant');
  const late = Array.from({ length: signOnLimits.groupsMax }, (_, index) => `g${index}`);
  expect(map({ grants: STAFF }, { groups: [...late, 'staff'] })).toBe('no_grant');
  expect(map({ grants: STAFF }, { groups: [...late.slice(1), 'staff'] })).toBe('operator of wrkspc_default');
});
