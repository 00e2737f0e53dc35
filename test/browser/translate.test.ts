import type { AgentTree } from '@fleetloom/protocol/stream-json/tree';
import { expect, it, vi } from 'vitest';
import { bundle } from '../support/bundle.ts';
import { openPage } from '../support/chromium.ts';
import { toInspection } from '../../packages/cli/src/stream-json/inspect/to-inspection.ts';
import { recording } from '../support/recordings.ts';
import { serveFiles } from '../support/static-server.ts';

const agents = recording('2.1.325/agents-forward-many');

// A string: vitest would rewrite the import, and the page could not run it.
const inPage = "import('/library.js').then((library) => library.translateRecording('/agents.ndjson'))";
const inWorker = `new Promise((resolve, reject) => {
  const worker = new Worker('/library.js', { type: 'module' });
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = ({ message }) => reject(new Error(message));
  worker.postMessage('/agents.ndjson');
})`;

it.each([
  ['a page', inPage],
  ['a worker', inWorker],
])('[S59, G13] in %s of a real browser the bundled library turns a fetched stream into its tree', async (_, script) => {
  const { code } = await bundle('test/browser/translate-recording.ts');
  const origin = await serveFiles({
    '/index.html': '<!doctype html><link rel="icon" href="data:,"><title>test</title>',
    '/library.js': code,
    '/agents.ndjson': agents.bytes(),
  });
  const { page, complaints } = await openPage(`${origin}/index.html`);
  const tree = await page.evaluate<AgentTree>(script);
  expect(toInspection(tree)).toEqual(agents.expected());
  expect(complaints).toEqual([]);
});

it('[G13] a page or worker that requests another host or logs an error is detected', async () => {
  const origin = await serveFiles({
    '/index.html': '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/bad.js"></script>',
    '/bad.js': "new Worker('/worker.js'); console.error('oh'); throw new Error('no');",
    '/worker.js': "console.error('oh, a worker'); fetch('http://localhost:9/').catch(() => {});",
  });
  const { complaints } = await openPage(`${origin}/index.html`);
  const expected = ['oh', 'Error: no', 'oh, a worker', 'asked for http://localhost:9/'];
  await vi.waitFor(() => expect(complaints).toEqual(expect.arrayContaining(expected)), 5_000);
});

it('[G13] without a browser a test fails with advice and is not skipped', async () => {
  vi.stubEnv('FLEETLOOM_NO_BROWSER', '1');
  await expect(openPage('http://127.0.0.1/').finally(vi.unstubAllEnvs)).rejects.toThrow('npm test -- --no-browser');
});
