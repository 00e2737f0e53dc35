import type { CDPSession, Page } from 'playwright-core';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { PushDeviceList } from '@fleetloom/protocol/fleet';
import { startPushService } from '../../../packages/server/src/push/push-service.suite.ts';
import { openDashboard, useBrowser } from './open-dashboard.ts';
import { beyond, violations } from './page-faults.ts';
import { createAgent, startSession } from './small-fleet.ts';

useBrowser({ isWhole: true });

const CANARY = 'canary-0815';

it('[Z460, Z461, Z462, Z463, Z464] a device is added with the browser’s permission, and devices are listed and removed; the service worker shows the decrypted message, which opens the session', async () => {
  const service = await startPushService();
  const [phone, old] = [service.subscribe(), service.subscribe('/old')];
  const { page, api, context, server, complaints } = await openDashboard({ allowedPrivateHosts: [service.host] });
  // The push service of Chromium is not reachable from tests: ours takes its place. All else is the browser's own.
  await context.addInitScript(subscribeWith(phone));
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
  const text = phone.decrypt(service.received[1]!.body);
  expect(text).not.toContain(CANARY);

  const { headers } = await fetch(`${server.url}/push-worker.js`);
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'no-cache',
    'content-security-policy': expect.stringContaining("default-src 'none'; script-src 'self'"),
  });
  const worker = await openWorker(page, server.url);
  await worker.deliver(text);
  const shown = await vi.waitFor(async () => {
    const found = await page.evaluate<object[]>(notifications);
    expect(found).toHaveLength(1);
    return found;
  }, 20_000);
  expect(shown).toEqual([
    {
      title: '1 session needs you',
      body: 'Open Fleetloom to see more.',
      tag: 'fleetloom',
      data: `#/thread/${session}`,
    },
  ]);
  // A newer message replaces it.
  await worker.deliver(text.replace('1 session needs', '2 sessions need').replace(`#/thread/${session}`, '#/inbox'));
  await vi.waitFor(async () => {
    expect(await page.evaluate(notifications)).toMatchObject([{ title: '2 sessions need you' }]);
  }, 20_000);
  // The worker asks for the focus, which browsers give only after a click of a person.
  expect(await worker.click({ data: `#/thread/${session}` })).toBe('Not allowed to focus a window.');
  await page.waitForURL((url) => url.hash.startsWith(`#/thread/${session}`));
  await worker.click({ data: 'https://evil.example/' });
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

/** Replaces the subscription at Chromium's own push service by one at another service. */
function subscribeWith({ endpoint, keys }: { endpoint: string; keys: { p256dh: string; auth: string } }): string {
  return `{
    const made = { endpoint: ${JSON.stringify(endpoint)}, keys: ${JSON.stringify(keys)} };
    let known = null;
    PushManager.prototype.getSubscription = async () => known;
    PushManager.prototype.subscribe = async ({ applicationServerKey, userVisibleOnly }) => {
      if (!userVisibleOnly || !/^B[\\w-]{86}$/.test(applicationServerKey)) throw new TypeError('not a key');
      const bytes = atob(applicationServerKey.replaceAll('-', '+').replaceAll('_', '/'));
      const options = { applicationServerKey: Uint8Array.from(bytes, (one) => one.charCodeAt(0)).buffer };
      return (known = { options, toJSON: () => made, unsubscribe: async () => ((known = null), true) });
    };
  }`;
}

const notifications = `navigator.serviceWorker.ready
  .then((registration) => registration.getNotifications())
  .then((all) => all.map(({ title, body, tag, data }) => ({ title, body, tag, data })))`;

/** The service worker of a page: what its push service delivers, and clicks on its notifications. */
async function openWorker(page: Page, origin: string) {
  const devtools: CDPSession = await page.context().newCDPSession(page);
  onTestFinished(() => devtools.detach().catch(() => {}));
  const registered = new Promise<string>((resolve) => {
    devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [first] = registrations.filter(({ isDeleted }) => !isDeleted);
      if (first !== undefined) resolve(first.registrationId);
    });
  });
  await devtools.send('ServiceWorker.enable');
  const registrationId = await registered;
  return {
    deliver: (data: string) => devtools.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data }),
    /** Headless Chromium has no desktop to click on, so the event of a click is dispatched in the worker. Returns the error of the worker. */
    click: async (notification: { readonly data: string }) => {
      const [worker] = page.context().serviceWorkers();
      return await worker!.evaluate<string>(`new Promise((resolve) => {
        const event = new Event('notificationclick');
        event.notification = { ...${JSON.stringify(notification)}, close: () => {} };
        event.waitUntil = (work) => work.then(() => resolve(''), ({ message }) => resolve(message));
        dispatchEvent(event);
      })`);
    },
  };
}
