import { expect, it } from 'vitest';
import { noSandbox } from '../packages/server/src/tools/toolbox.suite.ts';
import { DOWNLOADED_BYTES, openDownloads } from './egress.ts';

it.skipIf(noSandbox !== undefined)('[B40] both ways of the egress bench download the same 64 MiB', async () => {
  const { direct, proxied, close } = await openDownloads();
  expect([await direct(), await proxied()]).toEqual([DOWNLOADED_BYTES, DOWNLOADED_BYTES]);
  await close();
});
