import { encodeFleetEvent, parseFleetEvent } from '@fleetloom/protocol/fleet';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { bundle } from '../support/bundle.ts';
import { createTree } from '../scripts/temporary-tree.ts';
import { openPage, shellOf } from '../support/chromium.ts';
import { serve } from '../support/http-server.ts';

it('[F49] watchFleet works in a page: every event arrives once over a connection that is cut twice', async () => {
  const { code } = await bundle('packages/client/src/watch-fleet.ts');
  const log = Array.from({ length: 9 }, (_, index) => {
    const fields = { stream_id: 0, depth: 0, agent: 'a', delta: `«${index}»` };
    return parseFleetEvent({ event: 'text', id: `${index + 1}`, data: JSON.stringify(fields) });
  });
  const over = parseFleetEvent({ event: 'over', id: '10', data: '{"reason":"deleted"}' });
  const asked: string[] = [];
  const server = await serve((request, response) => {
    const url = new URL(String(request.url), 'http://here');
    if (url.pathname === '/')
      return void response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><link rel=icon href=data:,>');
    if (url.pathname === '/watch.js')
      return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(code);
    const after = Number(url.searchParams.get('after') ?? 0);
    asked.push(`${String(request.headers['last-event-id'])} ${request.headers.authorization}`);
    const part = [...log.slice(after, after + 4), ...(after + 4 >= log.length ? [over] : [])];
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(part.map(encodeFleetEvent).join(''));
  });
  onTestFinished(server.close);
  const { page, complaints } = await openPage(server.origin);
  const seen = await page.evaluate(`(async () => {
    const { watchFleet } = await import('/watch.js');
    const seen = [];
    for await (const event of watchFleet({ url: location.origin, key: 'k', random: () => 0 })) seen.push(event.cursor + event.type);
    const idle = watchFleet({ url: location.origin, after: '9' });
    await idle.return();
    return seen;
  })()`);
  expect(seen).toEqual([...log.map(({ cursor }) => `${cursor}text`), '10over']);
  expect(asked).toEqual(['undefined Bearer k', '4 Bearer k', '8 Bearer k']);
  expect(complaints).toEqual([]);
});

it('[G61] a browser with the shell of Chromium beside it is started as that shell, and another one as it is', async () => {
  const shell = join(await createTree({ 'bin/chromium-headless-shell': '' }), 'bin/chromium-headless-shell');
  expect(shellOf(join(dirname(shell), 'chromium'))).toBe(shell);
  expect(shellOf('/nowhere/chromium')).toBe('/nowhere/chromium');
});
