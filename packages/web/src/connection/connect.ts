import { serverNow } from './clock.ts';
import { FleetHub } from './fleet-hub.ts';
import type { HubMessage, TabMessage } from './messages.ts';
import { openWatch } from './open-watch.ts';
// oxlint-disable-next-line import/default -- the bundler makes it: the address of the worker's file
import hubUrl from './shared-hub.ts?sharedworker&url';

export interface HubConnection {
  close(): void;
}

/** Joins the connection that all tabs share; where a browser has no shared workers, this tab has one of its own. */
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
  return new SharedWorker(trustScript(hubUrl), { type: 'module', name: 'fleetloom' });
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

/** The policy of the page takes addresses of scripts only from this one: our own server's. */
function trustScript(path: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  const { href } = new URL(path, import.meta.url);
  if (trustedTypes === undefined) return href;
  const policy = trustedTypes.createPolicy('fleetloom', {
    createScriptURL: (url) => {
      if (new URL(url).origin !== location.origin) throw new TypeError('a script from elsewhere');
      return url;
    },
  });
  // The cast: browsers take the trusted form wherever they take the text, and the types of pages do not know it yet.
  return policy.createScriptURL(href) as string;
}

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): unknown };
}
