import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { bundle } from '../../../../test/support/bundle.ts';

it('[A56] the contract needs no other package and nothing of Node, and has at most 1500 bytes, minified and gzipped', async () => {
  const { code, bareImports } = await bundle('packages/protocol/src/managed-agents/index.ts');
  expect(bareImports).toEqual([]);
  expect(code).not.toMatch(/\bimport\b|\brequire\(|\bnode:/);
  expect(code).toMatch(/\bexport\s*\{/);
  expect(gzipSync(code).length).toBeLessThanOrEqual(1_500);
});
