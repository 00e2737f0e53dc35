// Receivers of webhooks.

import { bomb, drip, flood, raw, rawFlood, X64K } from './send.mjs';

export const hook = {
  fine: (response) => response.writeHead(204).end(),
  endless: (response) => flood(response.writeHead(200), X64K),
  'endless-refusal': (response) => flood(response.writeHead(500), X64K),
  drip: (response) => drip(response.writeHead(200), 'x'),
  silence: () => {},
  redirect: (response) => response.writeHead(307, { location: '/hook/fine' }).end(),
  headers: (response) => rawFlood(response, 'HTTP/1.1 200 OK\r\n', `x-a: ${'y'.repeat(1_000)}\r\n`),
  continue: (response) => rawFlood(response, '', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100)),
  gzip: (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb('x', 200)),
  cut: (response) => (response.writeHead(200).write('x'), setTimeout(() => response.destroy(), 20)),
  'no-http': (response) => raw(response, 'SSH-2.0-OpenSSH_9\r\n'),
};
