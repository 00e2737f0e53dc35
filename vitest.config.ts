import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

// Tests read the packages' sources, not what was compiled: no test can pass on yesterday's code.
// Not 'import' or 'default': those hold anyway where they should, and named here they would hold for require() too.
const conditions = ['fleetloom-source', 'node', 'module'];

// Files that leave their process as they found it share what they load, which is up to half of what they would take: no
// timers or globals of their own, no settings of the process, and nothing that proves what is not loaded yet. Not those that
// measure either: a figure must not depend on what ran before.
const together = [
  'packages/protocol/src/{fleet,managed-agents,sse}/**/*.test.ts',
  'packages/protocol/src/stream-json/!(memory|speed|reader.speed).test.ts',
  'packages/client/src/!(open-events).test.ts',
  'packages/web/src/**/!(app|clock|decisions|fleet-hub|header|polled).test.ts',
  'packages/server/src/!(server-place|server.few-resources|server.nasty).test.ts',
  'packages/server/src/base/!(create-pace|remove-tree|schedule).test.ts',
  'packages/server/src/engines/**/!(loop-turns).test.ts',
  'packages/server/src/{agents,environments,nodes,sessions,tools,views,webhooks}/**/*.test.ts',
  'packages/server/src/http/**/!(idle-streams|session-outputs).test.ts',
  'packages/server/src/store/!(slow-reader).test.ts',
  'packages/server/src/store/{memory,sqlite}/**/*.test.ts',
  'packages/cli/src/{agents,completion,config,connection,demo-fleet,doctor,export,fleet}/**/*.test.ts',
  'packages/cli/src/{import,overview,run,terminal,tree,watch}/**/*.test.ts',
  'packages/cli/src/{request-lines,server-commands}.test.ts',
  'packages/cli/src/conformance/!(suite-itself).test.ts',
  // The others draw, and prove that each of them loads what it measures wide text with.
  'packages/cli/src/commands/!(demo|inspect|stats|translate|watch).test.ts',
  'test/{claude-code,docs,fleet,stream-json}/**/*.test.ts',
  'bench/!(harness).test.ts',
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
    // What nodes on one database share, for servers that a test starts in its own process.
    env: { FLEETLOOM_SECRET: 'a secret that only tests have........' },
    // A second, which is the default, is what a busy machine takes for one look.
    expect: { poll: { timeout: 20_000 } },
    // On a machine that others use too, one of four thousand may be starved once. Where somebody watches there is no second try.
    retry: Number(process.env['FLEETLOOM_TEST_RETRIES'] ?? 0),
    hookTimeout: 60_000,
    // More than there are cores: much of what the files take is waiting, for leases, pauses and programs that start. Vitest
    // would leave one core idle even so, which is half of a small machine.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    reporters: ['default'],
    typecheck: { enabled: false },
  },
});
