import { serverNow } from './clock.ts';
import { FleetHub } from './fleet-hub.ts';
import type { HubMessage, TabMessage } from './messages.ts';
import { openWatch } from './open-watch.ts';
import { trustScript } from './trust-script.ts';
// oxlint-disable-next-line import/default -- the bundler resolves it to the URL of the worker's script
import hubUrl from './shared-hub.ts?sharedworker&url';

/** This tab's end of the shared connection. */
export interface HubConnection {
  close(): void;
}

/** Joins the connection that all tabs share. In a browser without shared workers the tab opens its own. */
export function connect(onMessage: (message: HubMessage) => void): HubConnection {
  if (typeof SharedWorker === 'undefined') return connectAlone(onMessage);
  const { port } = openWorker();
  port.addEventListener('message', ({ data }: MessageEvent<HubMessage>) => onMessage(data));
  port.start();
  const close = () => {
    const bye: TabMessage = { type: 'bye' };
    port.postMessage(bye);
  };
  addEventListener('pagehide', close);
  return { close };
}

function openWorker(): SharedWorker {
  return new SharedWorker(trustScript(new URL(hubUrl, import.meta.url).href), { type: 'module', name: 'fleetloom' });
}

function connectAlone(onMessage: (message: HubMessage) => void): HubConnection {
  const hub = new FleetHub({
    open: (options) => openWatch(new URL('.', location.href).href, options),
    now: () => Date.now(),
    serverNow,
    later: (run, ms) => void setTimeout(run, ms),
  });
  const port = { postMessage: onMessage };
  hub.attach(port);
  return { close: () => hub.detach(port) };
}
