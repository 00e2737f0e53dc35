import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startOn } from '../../../packages/server/src/server.ts';
import { testDatabase } from '../../support/postgres.ts';
import { openPostgresStore } from '../../../packages/server/src/store/postgres/postgres-store.ts';
import { PUBLIC_URL, startSignOnServer, toIssuer, toNode, writeOidcFiles } from './sign-on.suite.ts';
import {
  startRealProvider,
  TestBrowser,
  type TestPerson,
} from '../../../packages/server/src/single-sign-on/openid-provider.suite.ts';

const ANN: TestPerson = {
  sub: 'ann-1',
  email: 'ann@example.com',
  email_verified: true,
  name: 'Ann',
  groups: ['staff'],
};
const SCOPES = { scopes: ['openid', 'email', 'profile', 'groups'] };
const START = `${PUBLIC_URL}/login/oidc/acme`;

async function open(rest: object = {}) {
  const provider = await startRealProvider(PUBLIC_URL, 'acme', ANN);
  onTestFinished(() => provider.close());
  const files = await writeOidcFiles([toIssuer(provider, 'acme', SCOPES)], rest);
  return { provider, files, fleet: await startSignOnServer(files) };
}

it('[ID51] a person signs in at a provider with code, PKCE, state and nonce, has the role of the groups, and signs out there too', async () => {
  const { provider, fleet } = await open();
  const browser = fleet.browser();
  const page = await (await browser.visit(`${PUBLIC_URL}/login`)).text();
  expect(page).toContain('<a href="./login/oidc/acme">Sign in with The acme</a>');
  const { visited, last, response } = await browser.open(`${START}?page=inbox`);
  const request = new URL(visited.find((url) => url.startsWith(`${provider.issuer}/auth`))!).searchParams;
  expect(Object.fromEntries(request)).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    redirect_uri: `${START}/callback`,
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
  });
  expect(last.startsWith(`${START}/callback?`)).toBe(true);
  expect(await response!.text()).toContain('url=../../../#/inbox');
  const { cookie } = browser;
  expect(cookie).toMatch(/^fleetloom_\d+=fleetloom_web_[\w.-]+$/);
  const person = { issuer: provider.issuer, subject: 'ann-1', email: 'ann@example.com', name: 'Ann' };
  const settings = await fleet.ask('/v1/fleet/settings', { cookie });
  expect(settings.body).toMatchObject({ role: 'operator', key_id: null, person, workspace_id: 'wrkspc_default' });
  const logins = await fleet.ask('/v1/fleet/logins');
  expect(logins.body.data).toMatchObject([{ key_id: null, role: 'operator', person, made_with: null }]);
  // An operator may change agents, and the log names the person.
  const agent = { name: 'a', model: 'scripted/echo' };
  expect((await fleet.ask('/v1/agents', { method: 'POST', cookie, body: agent })).status).toBe(200);

  const accept = { accept: 'application/json', origin: fleet.server.url };
  const out = await browser.visit(`${PUBLIC_URL}/logout`, { method: 'POST', headers: accept });
  const { location } = (await out.json()) as { location: string };
  const end = new URL(location);
  expect(end.href.startsWith(`${provider.issuer}/session/end?`)).toBe(true);
  expect(end.searchParams.get('post_logout_redirect_uri')).toBe(`${PUBLIC_URL}/login`);
  expect(end.searchParams.get('id_token_hint')).toMatch(/^eyJ/);
  expect((await fleet.ask('/v1/agents', { cookie })).status).toBe(401);
  const entries = (await fleet.ask('/v1/fleet/audit')).body.data.map((each: { entry: object }) => each.entry);
  const by = { type: 'person', ...person };
  expect(entries.filter((each: { by: { type: string } }) => each.by.type === 'person')).toMatchObject([
    { action: 'login.started', by, address: '127.0.0.1', details: { role: 'operator' } },
    { action: 'agent.created', by: { ...by, role: 'operator', login_id: expect.any(String) } },
    { action: 'login.ended', by },
  ]);
  // The provider shows its own page, and has the person signed out afterwards.
  expect((await browser.open(location)).response!.status).toBe(200);
  expect(fleet.problems).toEqual([]);
});

it('[ID52] a person without a grant is refused with a page that has no details, and is in the audit log', async () => {
  const { provider, fleet } = await open();
  provider.person = { ...ANN, sub: 'eve', groups: ['others'] };
  const browser = fleet.browser();
  const { last, response } = await browser.open(START);
  expect([last, response!.status]).toEqual([`${PUBLIC_URL}/login?problem=refused`, 403]);
  expect(await response!.text()).toContain('nothing there gives you access');
  expect(browser.cookie).toBe('');
  expect((await fleet.ask('/v1/fleet/logins')).body.data).toEqual([]);
  const { entry } = (await fleet.ask('/v1/fleet/audit')).body.data.at(-1);
  expect(entry).toMatchObject({
    action: 'login.refused',
    by: { type: 'person', subject: 'eve', email: 'ann@example.com' },
    details: { provider: 'acme', reason: 'no_grant' },
  });
});

it('[ID51] the first matching grant chooses the workspace, unless the address asks for another one that is granted', async () => {
  const { provider, fleet } = await open();
  provider.person = { ...ANN, groups: ['guests', 'staff'] };
  const workspaceOf = async (query: string) => {
    const browser = fleet.browser();
    await browser.open(`${START}${query}`);
    const { body } = await fleet.ask('/v1/fleet/settings', { cookie: browser.cookie });
    return [body.workspace_id, body.role];
  };
  expect(await workspaceOf('')).toEqual(['wrkspc_default', 'operator']);
  expect(await workspaceOf('?workspace=wrkspc_guests')).toEqual(['wrkspc_guests', 'viewer']);
  expect(await workspaceOf('?workspace=wrkspc_other')).toEqual(['wrkspc_default', 'operator']);
});

it('[ID56] a revoked login of a person ends its streams within a second, and a stolen cookie does not work after the logout', async () => {
  const { fleet } = await open();
  const browser = fleet.browser();
  await browser.open(START);
  const { cookie } = browser;
  const headers = { cookie: toNode(cookie, fleet.server.port) };
  const stream = await fetch(`${fleet.server.url}/v1/fleet`, { headers });
  expect(stream.status).toBe(200);
  const [{ id }] = (await fleet.ask('/v1/fleet/logins')).body.data;
  expect((await fleet.ask(`/v1/fleet/logins/${id}`, { method: 'DELETE' })).status).toBe(200);
  const revokedAt = performance.now();
  await stream.text();
  expect(performance.now() - revokedAt).toBeLessThan(PATIENCE_MS);
  expect((await fleet.ask('/v1/agents', { cookie })).status).toBe(401);

  await browser.open(START);
  const stolen = browser.cookie;
  expect((await fleet.ask('/v1/agents', { cookie: stolen })).status).toBe(200);
  await browser.visit(`${PUBLIC_URL}/logout`, { method: 'POST', headers: { origin: fleet.server.url } });
  expect((await fleet.ask('/v1/agents', { cookie: stolen })).status).toBe(401);
});

/** A second, and what a busy machine adds. */
const PATIENCE_MS = 4_000;

it('[ID56] a login of a person ends with session_hours, and when its provider leaves the configuration', async () => {
  const { files, fleet } = await open({ session_hours: 0.5 });
  const browser = fleet.browser();
  const { response } = await browser.open(START);
  const [line] = response!.headers.getSetCookie().filter((each) => each.includes('fleetloom_web_'));
  expect(Number(/Max-Age=(\d+)/.exec(line!)![1])).toBeGreaterThan(1_790);
  expect(Number(/Max-Age=(\d+)/.exec(line!)![1])).toBeLessThanOrEqual(1_800);
  const [login] = (await fleet.ask('/v1/fleet/logins')).body.data;
  expect(Date.parse(login.expires_at) - Date.parse(login.created_at)).toBeLessThanOrEqual(1_800_000);
  const { cookie } = browser;
  const same = await fleet.restart({});
  expect((await same.ask('/v1/agents', { cookie })).status).toBe(200);
  const { dashboardDirectory } = files;
  const without = await same.restart({ oidcConfigFile: undefined, dashboardDirectory });
  expect((await without.ask('/v1/agents', { cookie })).status).toBe(401);
  expect((await without.ask('/v1/fleet/logins')).body.data).toEqual([]);
  expect((await fetch(`${without.server.url}/login/oidc/acme`)).status).toBe(404);
});

it('[ID60] a back-channel logout of the provider ends the logins of its session', async () => {
  const { provider, fleet } = await open();
  const browser = fleet.browser();
  provider.reach = fleet.server.url;
  await browser.open(START);
  const { cookie } = browser;
  provider.person = { ...ANN, sub: 'bob', email: 'bob@example.com' };
  const other = fleet.browser();
  await other.open(START);
  // The person signs out at the provider, in no page of ours.
  await browser.endProviderSession(provider.issuer);
  await expect.poll(async () => (await fleet.ask('/v1/agents', { cookie })).status).toBe(401);
  expect((await fleet.ask('/v1/agents', { cookie: other.cookie })).status).toBe(200);
  const { entry } = (await fleet.ask('/v1/fleet/audit')).body.data.at(-1);
  expect(entry).toMatchObject({ action: 'login.revoked', by: { type: 'provider', issuer: provider.issuer } });
});

it('[ID59] a sign-in that begins at one of three nodes ends at another, and its login counts and ends at all of them', async () => {
  const database = await testDatabase();
  const provider = await startRealProvider(PUBLIC_URL, 'acme', ANN);
  onTestFinished(() => provider.close());
  const files = await writeOidcFiles([toIssuer(provider, 'acme', SCOPES)]);
  const openNode = async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'fleetloom-sign-on-node-'));
    const server = await startOn({ dataDirectory, ...files }, await openPostgresStore(database), true);
    onTestFinished(async () => {
      await server.close();
      await rm(dataDirectory, { recursive: true, force: true });
    });
    return server;
  };
  const [one, two, three] = [await openNode(), await openNode(), await openNode()];
  const browser = new TestBrowser(PUBLIC_URL, one.url);
  const { last } = await browser.open(START, (url) => url.startsWith(`${START}/callback`));
  // Cookies have the port in their names; behind a load balancer the nodes have one address.
  const flow = browser.cookie;
  const at = (cookie: string, { port }: { port: number }) => ({ cookie: toNode(cookie, port) });
  const query = new URL(last).search;
  const callback = await fetch(`${two.url}/login/oidc/acme/callback${query}`, { headers: at(flow, two) });
  expect(await callback.text()).toContain('url=../../../');
  const [cookie] = callback.headers.getSetCookie().filter((each) => each.includes('fleetloom_web_'));
  const session = cookie!.split(';')[0]!;
  const statusAt = async (node: { url: string; port: number }) =>
    (await fetch(`${node.url}/v1/agents`, { headers: at(session, node) })).status;
  expect(await Promise.all([one, two, three].map(statusAt))).toEqual([200, 200, 200]);
  // Used once, on whatever node.
  const again = await fetch(`${three.url}/login/oidc/acme/callback${query}`, {
    headers: at(flow, three),
    redirect: 'manual',
  });
  expect(again.headers.get('location')).toMatch(/problem=/);
  const stream = await fetch(`${three.url}/v1/fleet`, { headers: at(session, three) });
  await fetch(`${one.url}/logout`, {
    method: 'POST',
    headers: { ...at(session, one), origin: one.url },
    redirect: 'manual',
  });
  const endedAt = performance.now();
  await stream.text();
  expect(performance.now() - endedAt).toBeLessThan(PATIENCE_MS);
  expect(await Promise.all([one, two, three].map(statusAt))).toEqual([401, 401, 401]);
});
