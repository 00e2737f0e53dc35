import { configDefaults, defineConfig } from 'vitest/config';

// Tests read the packages' sources, not what was compiled: no test can pass on yesterday's code.
// Not 'import' or 'default': those hold anyway where they should, and named here they would hold for require() too.
const conditions = ['fleetloom-source', 'node', 'module'];

// Pure code without processes, servers or settings of the process: its tests can share what they load, which is half of what
// they would take. Not those that measure: a figure must not depend on what ran before.
const together = [
  'packages/protocol/src/{fleet,managed-agents,sse}/**/*.test.ts',
  'packages/protocol/src/stream-json/!(memory|speed|reader.speed).test.ts',
  'packages/web/src/**/*.test.ts',
  'packages/server/src/{agents,base,views,tools}/**/*.test.ts',
  'packages/server/src/engines/{messages,scripted}/**/*.test.ts',
  'packages/cli/src/{agents,completion,config,export,fleet,import,overview,terminal,tree,watch}/**/*.test.ts',
];
const all = ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      { extends: true, test: { name: 'apart', include: all, exclude: [...configDefaults.exclude, ...together] } },
      { extends: true, test: { name: 'together', include: together, isolate: false } },
    ],
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
