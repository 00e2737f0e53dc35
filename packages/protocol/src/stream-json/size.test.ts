import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { bundle } from '../../../../test/support/bundle.ts';

it.each([
  ['stream-json/index', 12_000],
  ['sse/index', 2_500],
])('[S59] all of %s, bundled, minified and gzipped, has at most %i bytes', async (entry, bytesMax) => {
  const { code } = await bundle(`packages/protocol/src/${entry}.ts`);
  expect(code).toMatch(/\bexport\s*\{/);
  expect(gzipSync(code).length).toBeLessThanOrEqual(bytesMax);
});

it.each(['stream-json/index', 'stream-json/tree', 'stream-json/accelerator', 'sse/index'])(
  '[S59] %s needs no other package and nothing of Node',
  async (entry) => {
    const { code, bareImports } = await bundle(`packages/protocol/src/${entry}.ts`);
    expect(bareImports).toEqual([]);
    expect(code).not.toMatch(/\bimport\b|\brequire\(|\bnode:/);
  },
);
