import { defineConfig } from 'vitest/config';

// Tests read the packages' sources, not what was compiled: no test can pass on yesterday's code.
// Not 'import' or 'default': those hold anyway where they should, and named here they would hold for require() too.
const conditions = ['fleetloom-source', 'node', 'module'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
    testTimeout: 30_000,
    // On a machine that others use too, one of four thousand may be starved once. Where somebody watches there is no second try.
    retry: Number(process.env['FLEETLOOM_TEST_RETRIES'] ?? 0),
    hookTimeout: 60_000,
    // By default vitest leaves one core idle, which is half of a small machine.
    maxWorkers: '100%',
    reporters: ['default'],
    typecheck: { enabled: false },
  },
});
