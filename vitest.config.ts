import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { LongFilesFirst } from './test/support/long-files-first.ts';

// Tests read the packages' sources, not what was compiled: no test can pass on yesterday's code.
// Not 'import' or 'default': those hold anyway where they should, and named here they would hold for require() too.
const conditions = ['fleetloom-source', 'node', 'module'];

// Files that leave their process as they found it share what they load, which is up to half of what they would take: no
// timers or globals of their own, no settings of the process, and nothing that proves what is not loaded yet. Not those that
// measure either: a figure must not depend on what ran before.
const together = [
  'packages/protocol/src/{fleet,managed-agents,sse,text}/**/*.test.ts',
  'packages/protocol/src/stream-json/**/!(memory|speed|reader.speed|reader.limits).test.ts',
  'packages/client/src/!(open-events).test.ts',
  'packages/web/src/**/!(app|browser-storage|clock|decisions|fleet-hub|header|pages|polled|session-actions).test.ts',
  'test/server/**/!(few-resources|nasty).test.ts',
  'packages/server/src/composition/!(server-storage).test.ts',
  'packages/server/src/composition/audit/*.test.ts',
  'packages/server/src/composition/credentials/!(open-keys).test.ts',
  'packages/server/src/egress/!(attacks|connection-log).test.ts',
  'packages/server/src/base/**/!(create-pace|remove-tree|schedule).test.ts',
  'packages/server/src/engines/**/!(loop-turns).test.ts',
  'packages/server/src/{agents,environments,keys,metrics,nodes,push,rules,sessions,single-sign-on,tools,vaults,views,webhooks}/**/*.test.ts',
  'packages/server/src/http/**/!(idle-streams).test.ts',
  'packages/server/src/files/!(session-outputs).test.ts',
  'packages/server/src/log/!(slow-reader).test.ts',
  'packages/server/src/workspaces/**/!(copy-tree|run-git|sync|write-refused|undo-interrupted).test.ts',
  'packages/server/src/store/*.test.ts',
  'packages/server/src/store/postgres/postgres-{fences,store,tables}.test.ts',
  'packages/server/src/store/{memory,sqlite}/**/*.test.ts',
  'packages/cli/src/{agents,changes,completion,config,connection,demo-fleet,doctor,export,fleet,import,run,vaults,workspace}/**/*.test.ts',
  'packages/cli/src/{base,sessions,start}/*.test.ts',
  'packages/cli/src/program.test.ts',
  'packages/cli/src/server/!(last-resort).test.ts',
  'packages/cli/src/terminal/!(pseudo-terminal).test.ts',
  'packages/cli/src/conformance/!(suite-itself).test.ts',
  // The others draw, and prove that each of them loads what it measures wide text with.
  'packages/cli/src/stream-json/{overview,tree}/*.test.ts',
  'packages/cli/src/watch/**/!(watch).test.ts',
  'test/{acp,claude-code,docs,examples,fleet,opencode,scripts,stream-json,support}/**/*.test.ts',
  'bench/!(harness).test.ts',
];
// As together, and they share a browser. Not the one that measures the frames of a page.
const browser = ['test/browser/**/!(sessions).test.ts'];
// Apart, in a project without an exclude of its own: `--exclude` of a command has no effect on one that has.
const apartExcludable = ['test/engines/**/*.test.ts', 'test/browser/**/sessions.test.ts'];
const all = ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    experimental: { fsModuleCache: true, fsModuleCachePath: '.cache/vitest' },
    projects: [
      {
        extends: true,
        test: {
          name: 'apart',
          include: all,
          exclude: [...configDefaults.exclude, ...together, ...browser, ...apartExcludable],
        },
      },
      { extends: true, test: { name: 'apart-excludable', include: apartExcludable } },
      { extends: true, test: { name: 'browser', include: browser, isolate: false } },
      { extends: true, test: { name: 'together', include: together, isolate: false } },
    ],
    // A machine that others use too takes ten times as long for what takes 3 s.
    testTimeout: 60_000,
    // What nodes on one database share, for servers that a test starts in its own process.
    env: { FLEETLOOM_SECRET: 'a secret that only tests have........' },
    // A second, which is the default, is what a busy machine takes for one look.
    expect: { poll: { timeout: 20_000 } },
    // On a machine that others use too, one of four thousand may be starved once. Where somebody watches there is no second try.
    retry: Number(process.env['FLEETLOOM_TEST_RETRIES'] ?? 0),
    hookTimeout: 60_000,
    // More than there are cores: most of what the files take is waiting, for leases, pauses, disks and programs that start. A worker
    // uses about 0.4 of a core.
    maxWorkers: availableParallelism() + 3,
    sequence: { sequencer: LongFilesFirst },
    reporters: ['default'],
    typecheck: { enabled: false },
  },
});
