import { serverNow } from './clock.ts';
import { FleetHub } from './fleet-hub.ts';
import type { TabMessage } from './messages.ts';
import { openWatch } from './open-watch.ts';

// Runs as a SharedWorker: one per browser, for all tabs.

const hub = new FleetHub({
  // The worker's script is in the folder `assets`.
  open: (options) => openWatch(new URL('..', location.href).href, options),
  now: () => Date.now(),
  serverNow,
  later: (run, ms) => void setTimeout(run, ms),
});

addEventListener('connect', (event) => {
  // The connect event of a shared worker, which the DOM types do not include.
  const [port] = (event as MessageEvent).ports;
  if (port === undefined) return;
  port.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    if (data.type === 'bye') hub.detach(port);
  });
  // A crashed tab sends no `bye`; some browsers close its port.
  port.addEventListener('close', () => hub.detach(port));
  port.start();
  hub.attach(port);
});
