import type { PushMessage } from '@fleetloom/protocol/fleet';

// The service worker of the dashboard. It only shows push messages: pages are never cached, so a reload always loads the newest version.

/** The part of a service worker's global scope that is used here; the types of the page do not include it. */
interface WorkerScope {
  readonly registration: ServiceWorkerRegistration;
  readonly clients: {
    claim(): Promise<void>;
    matchAll(options: { type: 'window'; includeUncontrolled: boolean }): Promise<readonly WindowClient[]>;
    openWindow(url: string): Promise<unknown>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listener: (event: WorkerEvent) => void): void;
  addEventListener(type: 'push', listener: (event: WorkerEvent & { readonly data: PushData | null }) => void): void;
  addEventListener(
    type: 'notificationclick',
    listener: (event: WorkerEvent & { readonly notification: Notification }) => void,
  ): void;
}

interface WorkerEvent {
  waitUntil(work: Promise<unknown>): void;
}

interface PushData {
  json(): unknown;
}

interface WindowClient {
  readonly url: string;
  focus(): Promise<WindowClient>;
  navigate(url: string): Promise<unknown>;
}

const worker = globalThis as unknown as WorkerScope;

worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()));
worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener('push', (event) => event.waitUntil(show(readMessage(event.data))));
worker.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(String(event.notification.data)));
});

/** Browsers require a notification for every push message, so an unreadable message is shown with a general text. */
async function show({ title, body, url, tag }: Pick<PushMessage, 'title' | 'body' | 'url' | 'tag'>): Promise<void> {
  const icon = './favicon-needs.svg';
  // `renotify` is missing in the types. Without it a newer message replaces an older one silently.
  const options = { body, tag, icon, data: url, renotify: true };
  await worker.registration.showNotification(title, options);
}

function readMessage(data: PushData | null): Pick<PushMessage, 'title' | 'body' | 'url' | 'tag'> {
  const fallback = { title: 'Fleetloom', body: 'Open Fleetloom to see more.', url: '#/inbox', tag: 'fleetloom' };
  try {
    // The cast is safe: only this server can encrypt messages for this browser.
    return { ...fallback, ...(data?.json() as Partial<PushMessage>) };
  } catch {
    return fallback;
  }
}

/** Shows the page in an open tab of the dashboard, or in a new one. Only pages of the dashboard are opened. */
async function open(hash: string): Promise<void> {
  const { scope } = worker.registration;
  const url = new URL(hash.startsWith('#/') ? hash : '#/inbox', scope).href;
  const tabs = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const tab = tabs.find((each) => each.url.split('#')[0] === scope);
  if (tab === undefined) return void (await worker.clients.openWindow(url));
  // Both at once: a browser allows these calls only for a moment after the click. A tab that was reloaded without the worker cannot be navigated.
  await Promise.all([tab.navigate(url).catch(() => worker.clients.openWindow(url)), tab.focus()]);
}
