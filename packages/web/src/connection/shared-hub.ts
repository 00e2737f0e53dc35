import { serverNow } from './clock.ts';
import { FleetHub } from './fleet-hub.ts';
import type { TabMessage } from './messages.ts';
import { openWatch } from './open-watch.ts';

// Runs as a SharedWorker: once per browser, for all tabs.

const hub = new FleetHub({
  // The worker's file is in the folder `assets` of the pages.
  open: (options) => openWatch(new URL('..', location.href).href, options),
  now: () => Date.now(),
  serverNow,
  later: (run, ms) => void setTimeout(run, ms),
});

addEventListener('connect', (event) => {
  // The only event of a shared worker that brings a port; the types of pages do not know it.
  const [port] = (event as MessageEvent).ports;
  if (port === undefined) return;
  port.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    if (data.type === 'bye') hub.detach(port);
  });
  // Where browsers tell it: a tab that crashed has said nothing.
  port.addEventListener('close', () => hub.detach(port));
  port.start();
  hub.attach(port);
});
