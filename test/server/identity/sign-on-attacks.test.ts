import { SignJWT } from 'jose';
import { expect, it, onTestFinished } from 'vitest';
import { PUBLIC_URL, type SignOnServer, startSignOnServer, toIssuer, writeOidcFiles } from './sign-on.suite.ts';
import { signOnLimits } from '../../../packages/server/src/single-sign-on/limits.ts';
import {
  CLIENT,
  type HostileProvider,
  startHostileProvider,
  type TestBrowser,
} from '../../../packages/server/src/single-sign-on/openid-provider.suite.ts';

async function open(fields: object = {}) {
  const [provider, other] = [await startHostileProvider(), await startHostileProvider()];
  onTestFinished(async () => {
    await provider.close();
    await other.close();
  });
  const files = await writeOidcFiles([toIssuer(provider, 'acme', fields), toIssuer(other, 'other')]);
  return { provider, other, fleet: await startSignOnServer(files) };
}

const START = `${PUBLIC_URL}/login/oidc/acme`;
const CALLBACK = `${START}/callback`;

/** Leaves for the provider, and returns the state of the request. */
async function leave(browser: TestBrowser, provider: HostileProvider, start = START): Promise<string> {
  const { last } = await browser.open(start, (url) => url.startsWith(`${provider.issuer}/auth`));
  const query = new URL(last).searchParams;
  provider.nonce = query.get('nonce')!;
  return query.get('state')!;
}

/** Comes back with a code. */
async function comeBack(browser: TestBrowser, query: Record<string, string>, callback = CALLBACK) {
  const { last } = await browser.open(`${callback}?${new URLSearchParams(query)}`);
  return { isIn: browser.cookie.includes('fleetloom_web_'), problem: new URL(last).searchParams.get('problem') };
}

async function trySignIn(fleet: SignOnServer, provider: HostileProvider) {
  const browser = fleet.browser();
  const state = await leave(browser, provider);
  return await comeBack(browser, { code: 'c', state });
}

const IN = { isIn: true, problem: null };
const OUT = { isIn: false, problem: 'provider' };
const seconds = () => Math.floor(Date.now() / 1_000);

it('[ID53] an id token that is forged, unsigned, expired, of another nonce, client or issuer is refused', async () => {
  const { provider, other, fleet } = await open();
  expect(await trySignIn(fleet, provider)).toEqual(IN);
  const wrongClaims: Record<string, unknown>[] = [
    { nonce: 'another' },
    { nonce: undefined },
    { exp: seconds() - 60 },
    { exp: undefined },
    { iat: undefined },
    { nbf: seconds() + 120 },
    { aud: 'another' },
    { aud: [CLIENT.id, 'another'] },
    { iss: other.issuer },
    { sub: undefined },
    { sub: 'x'.repeat(signOnLimits.subjectCharsMax + 1) },
  ];
  for (const claims of wrongClaims) {
    provider.claims = claims;
    expect([claims, await trySignIn(fleet, provider)]).toEqual([claims, OUT]);
  }
  provider.claims = {};
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const tokens: Record<string, (claims: Record<string, unknown>) => Promise<string>> = {
    'alg none': async (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.`,
    'signed with the client secret': (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(CLIENT.secret)),
    'signed by another provider': (claims) => other.sign(claims),
    'unknown key': (claims) => provider.sign(claims, { kid: 'k2' }),
    'changed afterwards': async (claims) => {
      const [header, , signature] = (await provider.sign(claims)).split('.');
      return `${header}.${encode({ ...claims, groups: ['admins'] })}.${signature}`;
    },
    'not a token': async () => 'x',
  };
  for (const [name, token] of Object.entries(tokens)) {
    provider.idToken = token;
    expect([name, await trySignIn(fleet, provider)]).toEqual([name, OUT]);
  }
  const entries = (await fleet.ask('/v1/fleet/audit?limit=1000')).body.data;
  const refused = entries.filter((each: { entry: { action: string } }) => each.entry.action === 'login.refused');
  expect(refused).toHaveLength(wrongClaims.length + Object.keys(tokens).length);
  expect(refused[0].entry).toMatchObject({ by: { type: 'stranger' }, details: { reason: 'not_identified' } });
  expect((await fleet.ask('/v1/fleet/logins')).body.data).toHaveLength(1);
});

it('[ID54] a state works in the browser that began, within its time, once, and at its own provider only', async () => {
  const { provider, other, fleet } = await open();
  const browser = fleet.browser();
  const state = await leave(browser, provider);
  const [flow, { nonce }] = [browser.cookie, provider];
  // A link with a code of the attacker, sent to a victim: the victim's browser did not begin this sign-in.
  const victim = fleet.browser();
  expect(await comeBack(victim, { code: 'c', state })).toEqual({ isIn: false, problem: 'expired' });
  await leave(victim, provider);
  expect(await comeBack(victim, { code: 'c', state })).toEqual({ isIn: false, problem: 'expired' });
  expect(await comeBack(browser, { code: 'c', state: 'x' })).toEqual({ isIn: false, problem: 'expired' });
  // Mix-up: the code of one provider at the callback of the other, and an answer that names another issuer.
  const mixed = fleet.browser();
  mixed.steal(flow);
  const elsewhere = `${PUBLIC_URL}/login/oidc/other/callback`;
  expect(await comeBack(mixed, { code: 'c', state }, elsewhere)).toEqual({ isIn: false, problem: 'expired' });
  expect(other.exchanges).toEqual([]);
  const named = fleet.browser();
  named.steal(flow);
  expect(await comeBack(named, { code: 'c', state, iss: other.issuer })).toEqual(OUT);
  expect(provider.exchanges).toEqual([]);
  // The provider refuses: no code is sent anywhere.
  const cancelled = fleet.browser();
  cancelled.steal(flow);
  expect(await comeBack(cancelled, { error: 'access_denied', state })).toEqual({ isIn: false, problem: 'cancelled' });
  // Once, also with another code and the cookie of the flow.
  provider.nonce = nonce;
  expect(await comeBack(browser, { code: 'c', state })).toEqual(IN);
  expect(provider.exchanges.map((form) => form.get('code_verifier'))).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
  const thief = fleet.browser();
  thief.steal(flow);
  expect(await comeBack(thief, { code: 'c2', state })).toEqual({ isIn: false, problem: 'expired' });
  expect((await fleet.ask('/v1/fleet/logins')).body.data).toHaveLength(1);
});

it('[ID55] clocks may differ by clock_skew_seconds, and not by more', async () => {
  const { provider, fleet } = await open({ clock_skew_seconds: 120 });
  provider.claims = { exp: seconds() - 100, iat: seconds() - 200 };
  expect(await trySignIn(fleet, provider)).toEqual(IN);
  provider.claims = { nbf: seconds() + 100, iat: seconds() + 100 };
  expect(await trySignIn(fleet, provider)).toEqual(IN);
  provider.claims = { exp: seconds() - 130 };
  expect(await trySignIn(fleet, provider)).toEqual(OUT);
  provider.claims = { nbf: seconds() + 140 };
  expect(await trySignIn(fleet, provider)).toEqual(OUT);
});

it('[ID57] browsers that no provider has identified fill the audit log up to a rate', async () => {
  const { fleet } = await open();
  const many = signOnLimits.strangerEntriesPerMinute + 20;
  for (let count = 0; count < many; count++) {
    const response = await fetch(`${fleet.server.url}/login/oidc/acme/callback?state=x&code=c`, { redirect: 'manual' });
    expect(response.headers.get('location')).toBe('../../../login?problem=expired');
  }
  const entries = (await fleet.ask('/v1/fleet/audit?limit=1000')).body.data;
  const refused = entries.filter((each: { entry: { action: string } }) => each.entry.action === 'login.refused');
  // A minute may have passed in between.
  expect(refused.length).toBeGreaterThanOrEqual(signOnLimits.strangerEntriesPerMinute);
  expect(refused.length).toBeLessThan(many);
});

it('[ID53] a provider that is away, claims another issuer or answers without end signs no person in, and the server continues', async () => {
  const { provider, fleet } = await open();
  provider.metadata = { issuer: 'https://evil.example' };
  const begin = async () =>
    (await fetch(`${fleet.server.url}/login/oidc/acme`, { redirect: 'manual' })).headers.get('location');
  expect(await begin()).toBe('../../login?problem=provider');
  provider.metadata = { padding: 'x'.repeat(signOnLimits.responseBytesMax) };
  expect(await begin()).toBe('../../login?problem=provider');
  expect(fleet.problems.at(-1)).toContain(`more than ${signOnLimits.responseBytesMax} bytes`);
  provider.metadata = {};
  expect(await begin()).toContain(`${provider.issuer}/auth?`);
  expect(fleet.problems).toHaveLength(2);
});

it('[ID60] a logout token that is forged, old, without its event or with a nonce ends nothing', async () => {
  const { provider, other, fleet } = await open();
  const browser = fleet.browser();
  const state = await leave(browser, provider);
  await comeBack(browser, { code: 'c', state });
  const { cookie } = browser;
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  const right = {
    iss: provider.issuer,
    aud: CLIENT.id,
    sub: 'ann',
    iat: seconds(),
    exp: seconds() + 60,
    jti: 'j',
    events,
  };
  const send = async (token: string) => {
    const body = new URLSearchParams({ logout_token: token });
    return (await fetch(`${fleet.server.url}/login/oidc/acme/backchannel`, { method: 'POST', body })).status;
  };
  const wrong: Record<string, unknown>[] = [
    { aud: 'another' },
    { iss: other.issuer },
    { iat: seconds() - 600, exp: seconds() + 600 },
    { exp: seconds() - 60 },
    { events: {} },
    { nonce: 'n' },
    { sub: undefined },
    { jti: undefined },
  ];
  for (const claims of wrong)
    expect([claims, await send(await provider.sign({ ...right, ...claims }))]).toEqual([claims, 400]);
  expect(await send(await other.sign(right))).toBe(400);
  expect(await send('')).toBe(400);
  expect((await fleet.ask('/v1/agents', { cookie })).status).toBe(200);
  expect(await send(await provider.sign({ ...right, sub: 'bob' }))).toBe(200);
  expect((await fleet.ask('/v1/agents', { cookie })).status).toBe(200);
  expect(await send(await provider.sign(right))).toBe(200);
  expect((await fleet.ask('/v1/agents', { cookie })).status).toBe(401);
});
