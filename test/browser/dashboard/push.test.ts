import type { BrowserContext } from 'playwright-core';
import { expect, it, vi } from 'vitest';
import type { PushDeviceList } from '@fleetloom/protocol/fleet';
import { startPushService } from '../../../packages/server/src/push/push-service.suite.ts';
import { openDashboard, useBrowser } from './open-dashboard.ts';
import { beyond, violations } from './page-faults.ts';
import { startPushNetwork } from './push-network.ts';
import { createAgent, startSession } from './small-fleet.ts';

useBrowser({ isWhole: true });

const CANARY = 'canary-0815';

it('[Z460, Z461, Z462, Z463, Z464, Z600] a device is added with the browser’s permission, and devices are listed and removed; Chromium’s own push client receives and decrypts what the server sent, and the service worker shows it', async () => {
  const service = await startPushService();
  const network = await startPushNetwork();
  const context = await network.openContext();
  const { page, api, server, complaints } = await openDashboard({ allowedPrivateHosts: [service.host], context });
  // The push service gives what it received to the browser, still encrypted. The browser has made the keys, and only it can read it.
  service.answer = ({ path, body }) => {
    if (path === TOKEN_PATH) void network.deliver(body);
    return { status: 201 };
  };
  await context.addInitScript(useHost(service.host));
  const old = service.subscribe('/old');
  await api.post('/v1/fleet/push_subscriptions', { label: 'old phone', endpoint: old.endpoint, keys: old.keys });
  // Whatever is not granted is denied.
  await context.grantPermissions([], { origin: server.url });
  await page.reload();
  const settings = page.getByRole('region', { name: 'Push messages' });
  const own = settings.getByLabel(/Notify me on this device/);

  await page.getByRole('button', { name: 'Notifications: off' }).click();
  await settings.getByText('The browser blocks notifications of this page.').waitFor();
  expect(await own.isDisabled()).toBe(true);
  await settings.getByText('old phone, added by first key').waitFor();
  expect(await violations(page)).toEqual([]);
  await settings.getByRole('button', { name: 'Remove old phone' }).click();
  await settings.getByText('old phone').waitFor({ state: 'detached' });

  await context.grantPermissions(['notifications'], { origin: server.url });
  await page.reload();
  await page.getByRole('button', { name: 'Notifications: off' }).click();
  await settings.getByText('The browser asks for your permission.').waitFor();
  await own.click();
  await settings.getByText('Messages are encrypted for this device').waitFor();
  const devices = async () => (await api.get<PushDeviceList>('/v1/fleet/push_subscriptions')).data;
  expect(await devices()).toMatchObject([
    { label: 'Chrome on Linux', created_by: 'first key', include_content: false, quiet_hours: null },
  ]);
  const { width, height } = page.viewportSize()!;
  await page.setViewportSize({ width: 390, height: 844 });
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    expect([colorScheme, await violations(page), await page.evaluate(beyond)]).toEqual([colorScheme, [], []]);
  }
  await page.setViewportSize({ width, height });
  await settings.getByRole('button', { name: 'Send a test message' }).click();
  await vi.waitFor(() => expect(service.received).toHaveLength(1));
  await settings.getByLabel('Send nothing between').click();
  await vi.waitFor(async () => expect((await devices())[0]!.quiet_hours).toMatchObject({ from: '22:00', to: '07:00' }));
  await settings.getByLabel('Send nothing between').click();
  await vi.waitFor(async () => expect((await devices())[0]!.quiet_hours).toBeNull());
  await page.keyboard.press('Escape');

  const agent = await createAgent(api, 'writer', [
    [{ say: CANARY }, { call: 'write', input: { file_path: `${CANARY}.txt`, content: CANARY } }],
  ]);
  const session = await startSession(api, agent, CANARY);
  await vi.waitFor(() => expect(service.received).toHaveLength(2), 20_000);
  expect(service.received.map(({ path }) => path)).toEqual([TOKEN_PATH, TOKEN_PATH]);

  const { headers } = await fetch(`${server.url}/push-worker.js`);
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'no-cache',
    'content-security-policy': expect.stringContaining("default-src 'none'; script-src 'self'"),
  });
  const shown = async () => await page.evaluate<object[]>(notifications);
  const test = { title: 'Test message', tag: 'fleetloom-test', data: '#/inbox', body: expect.any(String) };
  // No content of the session is in it, and a newer message of the same tag replaces it.
  const needs = { tag: 'fleetloom', data: `#/thread/${session}`, body: 'Open Fleetloom to see more.' };
  await vi.waitFor(
    async () => expect(await shown()).toEqual([{ ...needs, title: '1 session needs you' }, test]),
    20_000,
  );
  await startSession(api, agent, CANARY);
  await vi.waitFor(
    async () => expect(await shown()).toMatchObject([{ title: '2 sessions need you' }, { tag: test.tag }]),
    20_000,
  );
  // The worker asks for the focus, which browsers give only after a click of a person.
  expect(await click(context, { data: `#/thread/${session}` })).toBe('Not allowed to focus a window.');
  await page.waitForURL((url) => url.hash.startsWith(`#/thread/${session}`));
  await click(context, { data: 'https://evil.example/' });
  await page.waitForURL((url) => url.hash === '#/inbox');

  await page.getByRole('button', { name: /^Notifications/ }).click();
  await own.click();
  await vi.waitFor(async () => expect(await devices()).toEqual([]));
  expect(complaints).toEqual([]);
}, 120_000);

it('[Z442] the dashboard is installable', async () => {
  const { page, context, complaints } = await openDashboard();
  const cdp = await context.newCDPSession(page);
  const { errors, data } = await cdp.send('Page.getAppManifest');
  expect([errors, JSON.parse(data!).name]).toEqual([[], 'Fleetloom']);
  // Only the window of the test is a reason not to install it.
  const { installabilityErrors } = await cdp.send('Page.getInstallabilityErrors');
  expect(installabilityErrors.map(({ errorId }) => errorId)).toEqual(['in-incognito']);
  const { icons } = JSON.parse(data!) as { icons: readonly { src: string; sizes: string; type: string }[] };
  for (const { src, sizes } of icons.filter(({ type }) => type === 'image/png')) {
    const size = await page.evaluate(
      `new Promise((resolve) => { const image = new Image(); image.onload = () => resolve(image.width + 'x' + image.height); image.src = '${src}'; })`,
    );
    expect([src, size]).toEqual([src, sizes]);
  }
  expect(complaints).toEqual([]);
});

/** Where Chromium's messages arrive: the token is that of its registration. */
const TOKEN_PATH = '/fcm/send/secret-token';

/** Names our push service as the host of the subscription's address, which is Google's. Nothing else of it changes. */
function useHost(host: string): string {
  return `{
    const { toJSON } = PushSubscription.prototype;
    PushSubscription.prototype.toJSON = function () {
      const made = toJSON.call(this);
      return { ...made, endpoint: Object.assign(new URL(made.endpoint), { host: '${host}' }).href };
    };
  }`;
}

const notifications = `navigator.serviceWorker.ready
  .then((registration) => registration.getNotifications())
  .then((all) => all.map(({ title, body, tag, data }) => ({ title, body, tag, data })))
  .then((all) => all.toSorted((left, right) => left.tag.localeCompare(right.tag)))`;

/** Headless Chromium has no desktop to click on, so the event of a click is dispatched in the worker. Returns the error of the worker. */
async function click(context: BrowserContext, notification: { readonly data: string }): Promise<string> {
  const [worker] = context.serviceWorkers();
  return await worker!.evaluate<string>(`new Promise((resolve) => {
    const event = new Event('notificationclick');
    event.notification = { ...${JSON.stringify(notification)}, close: () => {} };
    event.waitUntil = (work) => work.then(() => resolve(''), ({ message }) => resolve(message));
    dispatchEvent(event);
  })`);
}
