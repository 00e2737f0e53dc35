import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { ChainCheck } from '../../../packages/server/src/store/chain-check.ts';
import { noSandbox } from '../../../packages/server/src/tools/toolbox.suite.ts';
import { serveScripted } from '../../../packages/server/src/vaults/oauth/authorization-server.suite.ts';
import { type Dashboard, openDashboard, useBrowser } from './open-dashboard.ts';
import { beyond, violations } from './page-faults.ts';
import { createAgent, untilIdle } from './small-fleet.ts';

useBrowser();

/** Where screenshots are written; none are made without it. */
const SHOTS = process.env['FLEETLOOM_SHOTS'];
const patience = { timeout: 20_000, interval: 100 };
const options = { allowedPrivateHosts: ['127.0.0.1'] };

it('[Z530, Z531, Z532] vaults and credentials of each kind are created, validated, rotated and archived, and no secret is in the page', async () => {
  const { page, api, complaints } = await openDashboard({ ...options, hash: '#/settings' });
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Vaults' }).click();
  await page.getByText('There are no vaults').waitFor();
  await shoot(page, 'no-vaults');
  await page.getByRole('link', { name: 'New vault' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Team');
  await page.keyboard.press('Enter');
  const vault = page.getByRole('region', { name: 'Team' });
  await vault.getByText('It has no credentials.').waitFor();
  await vault.getByRole('button', { name: 'Rename' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Whole team');
  await page.getByRole('button', { name: 'Rename', exact: true }).click();
  const renamed = page.getByRole('region', { name: 'Whole team' });

  const mcp = await serveMcp(() => 'canary-three');
  const add = async (kind: string, fields: Record<string, string>) => {
    await renamed.getByRole('button', { name: 'Add a credential' }).click();
    const form = page.getByRole('form', { name: 'New credential' });
    await form.getByLabel('Kind').selectOption({ label: kind });
    for (const [label, value] of Object.entries(fields)) await form.getByLabel(label, { exact: true }).fill(value);
    await form.getByRole('button', { name: 'Store it' }).click();
  };
  const url = 'URL of the MCP server';
  await add('Token for an MCP server', { 'Name (optional)': 'Tracker', [url]: `${mcp}/1`, Token: 'canary-one' });
  const rows = page.getByRole('list', { name: 'Credentials' }).getByRole('listitem');
  await expect.poll(() => rows.count(), patience).toBe(1);
  await add('OAuth access token for an MCP server', { [url]: mcp, 'Access token': 'canary-two' });
  await expect.poll(() => rows.count(), patience).toBe(2);
  await add('Environment variable for commands', {
    'Name of the variable': 'API_TOKEN',
    Value: 'canary-four',
    'Hosts that may get it (empty: every host)': 'api.example.com\n*.example.org',
  });
  await rows.filter({ hasText: 'to api.example.com, *.example.org, in headers and bodies' }).waitFor();
  // A second one for the same server is refused, and what was typed stays.
  await add('Token for an MCP server', { [url]: `${mcp}/1/`, Token: 'canary-five' });
  await page.getByRole('alert').getByText('has a credential for').waitFor();
  expect(await page.getByRole('form', { name: 'New credential' }).getByLabel(url).inputValue()).toBe(`${mcp}/1/`);
  await page.getByRole('button', { name: 'Cancel' }).click();

  const oauth = rows.filter({ hasText: 'OAuth' });
  await oauth.getByRole('button', { name: /^Validate/ }).click();
  const validation = oauth.getByRole('status', { name: 'Validation' });
  await validation.getByText('The server does not accept it').waitFor();
  await validation.getByText('initialize: status 401').waitFor();
  await shoot(page, 'vaults');
  await oauth.getByRole('button', { name: /^Rotate/ }).click();
  await page.getByLabel('New access token').fill('canary-three');
  await page.getByRole('button', { name: 'Replace the secret' }).click();
  await validation.waitFor({ state: 'detached' });
  await oauth.getByRole('button', { name: /^Validate/ }).click();
  await validation.getByText('The server accepts it').waitFor();

  const [stored] = await api.list<{ id: string }>('/v1/vaults');
  await page.goto(`${page.url().split('#')[0]}#/vaults/${stored!.id}`);
  await page.reload();
  await expect.poll(() => rows.count(), patience).toBe(3);
  expect(await page.content()).not.toContain('canary');
  await oauth.getByRole('button', { name: /^Archive/ }).click();
  await page.getByRole('button', { name: 'Archive it for good' }).click();
  await expect.poll(() => rows.count(), patience).toBe(2);
  await renamed.getByRole('button', { name: 'Archive … Whole team' }).click();
  await page.getByRole('button', { name: 'Archive it for good' }).click();
  await page.getByText('There is no vault').waitFor();
  await page.getByLabel('Archived').check();
  await page
    .getByRole('region', { name: 'Whole team' })
    .getByText(/· archived/)
    .waitFor();
  expect(await page.getByRole('button', { name: 'Add a credential' }).count()).toBe(0);
  expect(complaints.filter((text) => !text.includes('409'))).toEqual([]);
}, 120_000);

it('[Z533] an MCP server is connected with OAuth, and a refusal is shown with its reason', async () => {
  const { page, api, context, server, complaints } = await openDashboard({ ...options, hash: '#/vaults' });
  const vault = await api.post('/v1/vaults', { display_name: 'Team' });
  const callback = (state: string, query: string) => `${server.url}/oauth-callback?${query}&state=${state}`;
  // Its page sends the browser back at once: with a code, or the second time with an error.
  let visits = 0;
  const scripted = await serveScripted((path, origin) => {
    if (!path.startsWith('/authorize')) return undefined;
    visits += 1;
    const state = new URL(path, origin).searchParams.get('state')!;
    const query = visits === 1 ? 'code=c' : 'error=access_denied';
    return { status: 303, headers: { location: callback(state, `${query}&iss=${encodeURIComponent(origin)}`) } };
  });
  await page.goto(`${server.url}/#/vaults/${vault.id}`);
  await page.reload();
  const connect = async () => {
    await page.getByRole('button', { name: 'Connect with OAuth' }).click();
    await page.getByLabel('URL of the MCP server').fill(scripted.url);
    await page.getByRole('button', { name: 'Continue' }).click();
    const [tab] = await Promise.all([
      context.waitForEvent('page'),
      page.getByRole('link', { name: /^Open 127/ }).click(),
    ]);
    await tab.waitForLoadState();
    const text = await tab.locator('main').innerText();
    expect(await violations(tab)).toEqual([]);
    await tab.close();
    return text;
  };
  expect(await connect()).toContain(`${scripted.url} is connected. You can close this page.`);
  await page.getByText(`✓ Connected: ${scripted.url}`).waitFor();
  const rows = page.getByRole('list', { name: 'Credentials' }).getByRole('listitem');
  await expect.poll(() => rows.count(), patience).toBe(1);
  await page.getByRole('button', { name: 'Close' }).click();
  expect(await connect()).toContain('Nothing was connected: the authorization server refused: access_denied.');
  await page.getByRole('alert').getByText('access_denied').waitFor();
  expect(complaints.filter((text) => !text.includes('400'))).toEqual([]);
  // A server that does not answer as it should is an error of the form.
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Connect with OAuth' }).click();
  await page.getByLabel('URL of the MCP server').fill(await serveMcp(() => 'x'));
  await page.getByRole('button', { name: 'Continue' }).click();
  await page
    .getByRole('alert')
    .getByText(/does not say which authorization server/i)
    .waitFor();
}, 120_000);

it('[Z534] a key is created with its limits and shown once, rotated and revoked', async () => {
  const { page, server, complaints } = await openDashboard({ hash: '#/keys' });
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByLabel('Name', { exact: true }).fill('ci');
  await page.getByLabel(/run: start/).check();
  await page.getByText('Limits', { exact: true }).click();
  await page.getByLabel(/^Directories/).fill('/srv/app');
  await page.getByLabel(/^Engines/).fill('codex');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const made = page.getByRole('status', { name: 'New secret' });
  const readSecret = async () => (await made.locator('pre').innerText()).trim();
  const first = await readSecret();
  const statusOf = async (secret: string) =>
    (await fetch(`${server.url}/v1/sessions`, { headers: { 'x-api-key': secret } })).status;
  expect(await statusOf(first)).toBe(200);
  await made.getByRole('button', { name: 'Copy' }).waitFor();
  const row = page.getByRole('row', { name: /ci/ });
  await expect.poll(() => row.innerText(), patience).toMatch(/read, run\s+\/srv\/app\s+codex\s+\d{4}/);
  await shoot(page, 'keys');
  await made.getByRole('button', { name: 'I have stored it' }).click();
  expect(await page.content()).not.toContain(first);

  await row.getByRole('button', { name: 'Rotate ci' }).click();
  await page.getByLabel('The old secret works').selectOption({ label: 'no longer' });
  await page.getByRole('button', { name: 'Make a new secret' }).click();
  const second = await readSecret();
  await expect.poll(() => statusOf(first), patience).toBe(401);
  expect(await statusOf(second)).toBe(200);
  await row.getByRole('button', { name: 'Revoke … ci' }).click();
  await row.getByRole('button', { name: 'Keep it' }).click();
  await row.getByRole('button', { name: 'Revoke … ci' }).click();
  await row.getByRole('button', { name: 'Revoke it for good' }).click();
  await row.waitFor({ state: 'detached' });
  expect(await statusOf(second)).toBe(401);
  expect(complaints).toEqual([]);
}, 120_000);

it('[Z535, Z604] people shows the signed-in browsers, makes links with a role, and ends a login', async () => {
  const { page, context, complaints, openTab } = await openDashboard({ hash: '#/people' });
  await page.getByLabel('Role').selectOption('approver');
  await page.getByRole('button', { name: 'Create a login link' }).click();
  const made = page.getByRole('status', { name: 'New login link' });
  const link = (await made.locator('pre').innerText()).trim();
  const other = await context.browser()!.newContext();
  onTestFinished(() => other.close());
  const guest = await other.newPage();
  await guest.goto(link);
  await guest.locator('.topbar').waitFor();
  await page.reload();
  const row = page.getByRole('row', { name: /approver/ });
  await row.waitFor();
  expect(await row.innerText()).toMatch(/first key.*Chrome on Linux/s);
  await shoot(page, 'people');
  await row.getByRole('button', { name: 'Sign out' }).click();
  await row.waitFor({ state: 'detached' });
  await expect.poll(async () => (await guest.reload(), guest.url()), patience).toContain('/login');
  await (await openTab()).close();
  expect(complaints).toEqual([]);
}, 120_000);

it('[Z536] audit lists, filters, shows, verifies and saves the entries, and finds one that was changed', async () => {
  const { page, api, server, complaints } = await openDashboard({ hash: '#/audit' });
  for (let index = 0; index < 130; index++) await api.post('/v1/vaults', { display_name: `v${index}` });
  await page.reload();
  const rows = page.locator('.audit-table tbody tr');
  await expect.poll(() => rows.count(), patience).toBeGreaterThan(99);
  expect(await rows.first().innerText()).toMatch(/^\d+ ▸\s+20.*first key \(key\)\s+vault.created\s+vlt_/s);
  const before = await rows.count();
  const older = page.getByRole('button', { name: 'Older entries' });
  if ((await older.count()) > 0) await older.click();
  await expect.poll(() => page.getByText(/^All \d+ entries of the log\./).count(), patience).toBe(1);
  expect(await rows.count()).toBeGreaterThanOrEqual(before);

  await page.getByLabel('Action or id').fill('login.');
  await expect.poll(() => rows.count(), patience).toBeLessThan(5);
  expect(page.url()).toContain('action=login.');
  await page.reload();
  await expect.poll(() => rows.count(), patience).toBeGreaterThan(0);
  await page.getByLabel('Who').fill('no such person');
  await page.getByText('No entry matches').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByLabel('To', { exact: true }).fill('2020-01-01');
  await page.getByText('No entry matches').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect.poll(() => rows.count(), patience).toBeGreaterThan(99);
  await rows.first().getByRole('button').click();
  await page.getByText('"action": "vault.created"').waitFor();
  await shoot(page, 'audit');

  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText(/✓ \d+ entries verified/).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export as JSON lines' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^fleetloom-audit-.*\.jsonl$/);
  const check = new ChainCheck();
  const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
  for (const line of lines) expect(check.add(JSON.parse(line))).toBeUndefined();
  expect(lines.length).toBeGreaterThan(130);

  // What a changed database would answer.
  await page.route(`${server.url}/v1/fleet/audit?after=0*`, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: { entry: { target: string } }[] };
    if (body.data[40] !== undefined) body.data[40].entry.target = 'vlt_other';
    await route.fulfill({ response: answer, json: body });
  });
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByRole('alert', { name: 'Problems' }).getByText('Entry 41 was changed').waitFor();
  expect(complaints).toEqual([]);
}, 120_000);

it('[Z530, Z537] a viewer gets no control that changes something, and what would be sent is not', async () => {
  const { page, api, server, context } = await openDashboard({ ...options, isSignedIn: false });
  const vault = await api.post('/v1/vaults', { display_name: 'Team' });
  const auth = { type: 'mcp_oauth', mcp_server_url: 'https://mcp.example.com/mcp', access_token: 'canary' };
  await api.post(`/v1/vaults/${vault.id}/credentials`, { auth });
  const { path } = await api.post<{ path: string }>('/v1/login_links', { role: 'viewer' });
  const sent: string[] = [];
  context.on('request', (request) => {
    if (request.method() !== 'GET') sent.push(`${request.method()} ${request.url()}`);
  });
  await page.goto(`${server.url}${path}`);
  await page.locator('.topbar').waitFor();
  await page.goto(`${server.url}/#/vaults`);
  await page.getByRole('list', { name: 'Credentials' }).getByRole('listitem').waitFor();
  await expect.poll(() => page.locator('html').getAttribute('data-missing'), patience).toContain('manage');
  const main = page.locator('#main');
  expect(await main.locator('button:visible').allInnerTexts()).toEqual(['Reload']);
  expect(await main.getByRole('link', { name: 'New vault' }).count()).toBe(0);
  const links = await page.getByRole('navigation', { name: 'Settings' }).getByRole('link').allInnerTexts();
  expect(links).toEqual(['Settings', 'Vaults']);
  await shoot(page, 'vaults-viewer');
  // By address, and by what a script could press.
  await page.goto(`${server.url}/#/vaults/new`);
  await page.evaluate(`(() => {
    for (const form of document.querySelectorAll('form')) {
      for (const input of form.querySelectorAll('input')) input.value = 'x';
      form.requestSubmit();
    }
    for (const button of document.querySelectorAll('#main [data-needs]')) button.click();
  })()`);
  for (const view of ['keys', 'people', 'audit']) {
    await page.goto(`${server.url}/#/${view}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect([view, await main.locator('button:visible', { hasNotText: /Reload|Loading/ }).allInnerTexts()]).toEqual([
      view,
      [],
    ]);
    await page.evaluate(`document.querySelectorAll('#main form').forEach((form) => form.requestSubmit())`);
    for (const key of ['Enter', 'd', 'x', 'a', 'Delete']) await page.keyboard.press(key);
  }
  await page.getByRole('alert').getByText('Your login may not read this').waitFor();
  await page.goto(`${server.url}/#/people`);
  await page.getByRole('alert').waitFor();
  expect(sent).toEqual([]);
}, 120_000);

it('[Z538] the pages say that they load and that the server does not answer, and work again after Reload', async () => {
  const { page, server } = await openDashboard({ hash: '#/settings' });
  for (const [view, path] of [
    ['vaults', 'v1/vaults'],
    ['keys', 'v1/fleet/settings'],
    ['people', 'v1/fleet/logins'],
    ['audit', 'v1/fleet/audit'],
  ] as const) {
    let answer: (() => void) | undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    const address = `${server.url}/${path}**`;
    await page.route(address, async (route) => {
      await held;
      await route.abort();
    });
    await page.goto(`${server.url}/#/${view}`);
    await page.getByText('Loading …').first().waitFor();
    answer!();
    await page.getByRole('alert').getByText('The server does not answer').waitFor();
    await page.unroute(address);
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
  }
}, 120_000);

it('[Z539] the pages fit every width and pass axe in both themes', async () => {
  const { page, api, server } = await openDashboard({ ...options, hash: '#/settings' });
  await seed(api);
  const views = ['vaults', 'keys', 'people', 'audit'];
  const all = [1_440, 1_024, 390];
  // Every width and theme once; all of both in the long run.
  const widths =
    process.env['FLEETLOOM_LONG'] === '1' ? { dark: all, light: all } : { dark: [1_440], light: [1_024, 390] };
  for (const theme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    for (const width of widths[theme]) {
      await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
      for (const view of views) {
        await page.goto(`${server.url}/#/${view}`);
        await page.locator('.admin[aria-busy=false], .admin:not([aria-busy])').waitFor();
        await page.locator('.admin :is(table, .credentials li)').first().waitFor();
        await openForms(page, view);
        const name = `${view}-${theme}-${width}`;
        await shoot(page, name);
        const out = await page.evaluate<string[]>(beyond);
        // Tables scroll by themselves.
        const inTables = await page.evaluate<string[]>(
          `[...document.querySelectorAll('.scroll-x :is(button, a, input)')].map((one) => one.outerHTML.slice(0, 120))`,
        );
        expect([name, out.filter((each) => !inTables.includes(each))]).toEqual([name, []]);
        expect([name, await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')]).toEqual([
          name,
          0,
        ]);
        expect([name, await violations(page)]).toEqual([name, []]);
      }
    }
  }
}, 240_000);

it.skipIf(noSandbox !== undefined)(
  '[Z540] the connections of a session are a tab: hosts with bytes, allowed and refused, also after a reload and on a phone',
  async () => {
    const origin = createServer((_request, response) => response.end('hello'));
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.2', resolve));
    onTestFinished(() => void origin.close());
    const { port } = origin.address() as AddressInfo;
    const { page, api, server, complaints } = await openDashboard({ allowedPrivateHosts: ['127.0.0.2'] });
    const get = (host: string) => [{ call: 'bash', input: { command: `curl -sS http://${host}:${port}/` } }];
    const agent = await createAgent(api, 'a', [get('127.0.0.2'), get('127.0.0.3'), [{ say: 'done' }]]);
    const networking = { type: 'limited', allowed_hosts: [`127.0.0.2:${port}`] };
    const environment = await api.post('/v1/environments', { name: 'tight', config: { type: 'cloud', networking } });
    const session = await api.post('/v1/sessions', {
      agent,
      environment_id: environment.id,
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'Go.' }] }],
    });
    await untilIdle(api, session.id);
    await page.goto(`${server.url}/#/session/${session.id}`);
    await page.getByRole('navigation', { name: 'Session' }).getByRole('link', { name: 'Connections' }).click();
    const hosts = page.getByRole('group', { name: 'Hosts' }).locator('tbody tr');
    await expect.poll(() => hosts.count(), patience).toBe(2);
    expect(await hosts.first().innerText()).toMatch(/127\.0\.0\.3:\d+\s+0\s+✗ 1/);
    expect(await hosts.last().innerText()).toMatch(/127\.0\.0\.2:\d+\s+1\s+0\s+\d+ B\s+\d+ B/);
    const rows = page.getByRole('group', { name: 'All connections' }).locator('tbody tr');
    expect(await rows.first().innerText()).toMatch(/127\.0\.0\.3:\d+\s+refused: /);
    await shoot(page, 'connections');
    expect(await violations(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme: 'light' });
    await page.reload();
    await expect.poll(() => rows.count(), patience).toBe(2);
    await shoot(page, 'connections-390');
    expect(await page.evaluate<string[]>(beyond)).toEqual([]);
    expect(await violations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  },
  120_000,
);

async function openForms(page: Page, view: string): Promise<void> {
  if (view === 'vaults') await page.getByRole('button', { name: 'Add a credential' }).click();
  if (view === 'keys') await page.getByRole('button', { name: 'New key' }).click();
  if (view === 'audit') await page.locator('.audit-table tbody button').first().click();
}

async function seed(api: Dashboard['api']): Promise<void> {
  await api.post('/v1/vaults', { display_name: 'Personal' });
  const vault = await api.post('/v1/vaults', { display_name: 'Team' });
  const credentials = [
    {
      display_name: 'Issue tracker',
      auth: { type: 'static_bearer', mcp_server_url: 'https://mcp.example.com/mcp', token: 't' },
    },
    { auth: { type: 'mcp_oauth', mcp_server_url: `https://mcp.example.org/${'a'.repeat(120)}`, access_token: 't' } },
    {
      display_name: 'Deploy',
      auth: {
        type: 'environment_variable',
        secret_name: 'DEPLOY_TOKEN',
        secret_value: 's',
        networking: { type: 'limited', allowed_hosts: ['api.example.com', '*.example.org'] },
      },
    },
  ];
  for (const each of credentials) await api.post(`/v1/vaults/${vault.id}/credentials`, each);
  await api.post('/v1/fleet/keys', {
    name: 'ci',
    scopes: ['read', 'run'],
    directories: ['/srv/a-long-name-of-a-directory/with/parts', '/srv/b'],
    engines: ['codex', 'claude-code'],
    expires_at: '2099-01-01T00:00:00Z',
  });
}

async function shoot(page: Page, name: string): Promise<void> {
  if (SHOTS === undefined) return;
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: `${SHOTS}/${name}.png` });
}

/** An MCP server that accepts one token. */
async function serveMcp(accepts: () => string): Promise<string> {
  const http = createServer((request, response) => {
    const isAccepted = request.headers.authorization === `Bearer ${accepts()}`;
    response.writeHead(isAccepted ? 200 : 401, { 'content-type': 'application/json' });
    request.resume().on('end', () => response.end('{"jsonrpc":"2.0","id":1,"result":{}}'));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void http.close());
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}
