import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { bundle } from '../../../../test/support/bundle.ts';

it('[F36] all of it, bundled, minified and gzipped, has at most 15,000 bytes, and needs no other package and nothing of Node', async () => {
  const { code, bareImports } = await bundle('packages/protocol/src/fleet/index.ts');
  expect(bareImports).toEqual([]);
  expect(code).toMatch(/\bexport\s*\{/);
  expect(code).not.toMatch(/\bimport\b|\brequire\(|\bnode:/);
  expect(gzipSync(code).length).toBeLessThanOrEqual(15_000);
});
