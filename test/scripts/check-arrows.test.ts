import { describe, expect, it } from 'vitest';
import { runOnTree } from './temporary-tree.ts';

const manifests = {
  'package.json': '{ "devDependencies": { "vitest": "1" } }',
  'packages/protocol/package.json': '{ "name": "@fleetloom/protocol" }',
  'packages/client/package.json': '{ "name": "@fleetloom/client", "dependencies": { "@fleetloom/protocol": "1" } }',
  'packages/server/package.json':
    '{ "name": "@fleetloom/server", "dependencies": { "@fleetloom/protocol": "1", "@fastify/busboy": "1", "pg": "1" } }',
  'packages/cli/package.json':
    '{ "name": "fleetloom", "dependencies": { "@fleetloom/server": "1", "@fleetloom/client": "1", "commander": "1" } }',
  'packages/web/package.json': '{ "name": "@fleetloom/web", "dependencies": { "@fleetloom/client": "1" } }',
};

const server = 'packages/server/src';
const protocol = 'packages/protocol/src';
const web = 'packages/web/src';

/** What is imported, in which file, by which name, and what the report says about it. */
const violations: [string, string, string, string][] = [
  [
    'one package in another that it must not know',
    'packages/client/src/v1.ts',
    '@fleetloom/server',
    'client imports only protocol',
  ],
  ['anything in protocol', `${protocol}/sse/v2.ts`, '@fleetloom/client', 'protocol imports nothing but itself'],
  ['a package by its path', 'packages/client/src/v3.ts', '../../protocol/src/sse/a.ts', 'by its name only'],
  ['a test of one package in another', `${protocol}/sse/v4.test.ts`, '@fleetloom/server', 'protocol imports nothing'],
  ['a file outside the package', `${server}/base/v5.ts`, '../../../../fixtures/a.json', 'complete in itself'],
  ['Node in protocol', `${protocol}/sse/v6.ts`, 'node:fs', 'runs in browsers too'],
  ['Node in client, without its prefix', 'packages/client/src/v7.ts', 'fs', 'runs in browsers too'],
  ['Node in web', 'packages/web/src/v8.tsx', 'node:path', 'runs in browsers too'],
  ['a sibling in sse', `${protocol}/sse/v9.ts`, '../fleet/a.ts', 'sse imports nothing but itself'],
  [
    'a sibling in stream-json',
    `${protocol}/stream-json/v10.ts`,
    '../sse/a.ts',
    'stream-json imports nothing but itself',
  ],
  ['a folder by its package name', `${protocol}/sse/v11.ts`, '@fleetloom/protocol/fleet', 'sse imports nothing'],
  ['managed-agents in fleet', `${protocol}/fleet/v12.ts`, '../managed-agents/a.ts', 'fleet imports only sse'],
  ['a store in base', `${server}/base/v13.ts`, '../store/store.ts', 'base imports nothing but itself'],
  ['an engine in a store', `${server}/store/v14.ts`, '../engines/model/engine.ts', 'store imports only base'],
  ['sessions in views', `${server}/views/v15.ts`, '../sessions/a.ts', 'views imports only base, store/*, log, frames'],
  ['http in sessions', `${server}/sessions/v16.ts`, '../http/app.ts', 'Turn the arrow round'],
  [
    'an engine itself in sessions',
    `${server}/sessions/core/v17.ts`,
    '../../engines/model/messages/loop.ts',
    'This is an implementation',
  ],
  [
    'a store itself in sessions',
    `${server}/sessions/api/v18.ts`,
    '../../store/sqlite/driver.ts',
    'This is an implementation',
  ],
  [
    'the runtime of sessions in their core',
    `${server}/sessions/core/v28.ts`,
    '../runtime/actor.ts',
    'Turn the arrow round',
  ],
  [
    'a sub-folder in another one above it',
    `${server}/sessions/core/steps/v29.ts`,
    '../../api/send.ts',
    'sessions/core imports only',
  ],
  ['a store itself in views', `${server}/views/v19.ts`, '../store/sqlite/driver.ts', 'This is an implementation'],
  ['the composition root', `${server}/http/v20.ts`, '../server.ts', 'Files beside the folders put the whole together'],
  ['node:http outside http', `${server}/sessions/v21.ts`, 'node:http', 'knows HTTP'],
  ['a package of a guarded scope outside http', `${server}/server.ts`, '@fastify/busboy', 'knows HTTP'],
  ['node:http outside http', 'packages/cli/src/v22.ts', 'node:http', 'knows HTTP'],
  ['a driver outside the store', `${server}/sessions/v23.ts`, 'node:sqlite', 'knows SQLite'],
  [
    'what package.json does not declare',
    'packages/cli/src/v24.ts',
    'chalk',
    'chalk is not declared in packages/cli/package.json',
  ],
  ['another package that is not declared', 'packages/cli/src/v25.ts', '@fleetloom/protocol', 'not declared'],
  ['a command in an implementation', 'packages/cli/src/doctor/v30.ts', '../commands/a.ts', 'Turn the arrow round'],
  [
    'the drawing of watch in its state',
    'packages/cli/src/watch/state/v31.ts',
    '../draw/a.ts',
    'watch/state imports only base, terminal, connection, fleet',
  ],
  [
    'the tree of agents in the overview it shows',
    'packages/cli/src/stream-json/overview/v32.ts',
    '../tree/a.ts',
    'Turn',
  ],
  ['an undeclared tool in a test', 'test/v26.test.ts', 'chalk', 'chalk is not declared in package.json'],
  ['a page in another page', `${web}/inbox/v38.ts`, '../fleet/a.ts', 'inbox imports only model, text, stores, ui'],
  ['the shell in a page', `${web}/session/v39.ts`, '../shell/pages.ts', 'session imports only'],
  ['a store in the model', `${web}/model/v30.ts`, '../stores/stores.ts', 'model imports only text'],
  ['a folder in its own sub-folder', `${web}/stores/connection/v31.ts`, '../ui-store.ts', 'stores/connection imports'],
  [
    'a sub-folder in one below it',
    `${web}/session/transcript/v32.ts`,
    '../inspector/Raw.tsx',
    'session/transcript imports only',
  ],
  ['a page in a new page', `${web}/new-page/v40.ts`, '../fleet/a.ts', 'new-page imports only model, text, stores, ui'],
  ['a page in shared components', `${web}/ui/v41.ts`, '../fleet/a.ts', 'ui imports only'],
  ['a sub-folder of another page', `${web}/fleet/v33.ts`, '../session/replay/a.ts', 'fleet imports only'],
  ['a dependency at the start of a script', 'scripts/v27.mjs', 'vitest', 'before anything is installed'],
];

describe('with the flow', () => {
  it('[G1] imports that follow the arrows pass', async () => {
    const ending = await checkArrows({
      [`${protocol}/fleet/events.ts`]: "import { write } from '../sse/write.ts';",
      [`${protocol}/managed-agents/list.ts`]: "export * from '../sse/write.ts';",
      'packages/client/src/index.ts': "import type { Frame } from '@fleetloom/protocol/fleet';",
      'packages/web/src/main.tsx': "import { follow } from '@fleetloom/client';",
      [`${server}/base/id.ts`]: "import { randomBytes } from 'node:crypto';",
      [`${server}/store/sqlite/driver.ts`]:
        "import type { DatabaseSync } from 'node:sqlite';\nconst m = await import('node:sqlite');",
      [`${server}/store/postgres/driver.ts`]: "import { Pool } from 'pg';",
      [`${server}/engines/model/scripted/http/serve.ts`]: "import { createServer } from 'node:http';",
      [`${server}/sessions/core/state/turn.ts`]:
        "import type { Engine } from '../../../engines/model/engine.ts';\nimport type { Store } from '../../../store/store.ts';\nimport type { Tool } from '../../../tools/tool.ts';",
      [`${server}/views/list.ts`]:
        "import type { Store } from '../store/store.ts';\nimport { now } from '../base/now.ts';",
      [`${server}/http/routes/app.ts`]:
        "import { Dicer } from '@fastify/busboy';\nimport { list } from '../../views/list.ts';",
      [`${server}/server.ts`]: "import { open } from './store/sqlite/driver.ts';\nimport { app } from './http/app.ts';",
      'packages/cli/src/main.ts': "import { serve } from '@fleetloom/server';\nawait import('commander');",
      'test/crash/kill.test.ts': "import { it } from 'vitest';\nimport { serve } from '@fleetloom/server';",
      'scripts/bench.mjs': "import { join } from 'node:path';\nimport './setup.mjs';\nawait import('vitest');",
    });
    expect(ending).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('[G40] a listed folder stands for its sub-folders too, a sub-folder may be listed alone, and a new page needs no line', async () => {
    const ending = await checkArrows({
      [`${web}/fleet/a.ts`]: "import '../stores/connection/api.ts';\nimport '../ui/text/Diff.tsx';",
      [`${web}/session/page.tsx`]: "import './transcript/blocks.ts';",
      [`${web}/session/inspector/deep/Raw.tsx`]: "import '../../transcript/blocks.ts';\nimport '../Panel.tsx';",
      [`${web}/new-page/parts/a.ts`]: "import '../../ui/page.ts';\nimport '../b.ts';",
      [`${web}/shell/pages.ts`]:
        "import '../session/page.tsx';\nimport '../session/find/FindDialog.tsx';\nimport '../new-page/page.tsx';",
    });
    expect(ending.stdout).toBe('');
  });

  it('[G1] tests may look behind contracts and use the tools of the workspace', async () => {
    const ending = await checkArrows({
      [`${protocol}/sse/sse.test.ts`]: "import { readFile } from 'node:fs/promises';\nimport { it } from 'vitest';",
      [`${server}/views/list.test.ts`]:
        "import { open } from '../store/sqlite/driver.ts';\nimport '../sessions/turn.ts';",
      [`${server}/store/store.suite.ts`]: "import { it } from 'vitest';",
    });
    expect(ending.stdout).toBe('');
  });

  it('[G1] text that only looks like an import is ignored', async () => {
    const ending = await checkArrows({
      [`${protocol}/sse/write.ts`]: [
        "// import 'node:fs';",
        "/* import 'node:fs'; */",
        'const a = "import \'node:fs\'";',
        "const b = `import 'node:fs'; ${String('x')} import 'node:fs'`;",
        "const c = /'/.test(a) ? 1 / 2 : \"from 'node:fs'\";",
        "export const list = Array.from('node:fs');",
      ].join('\n'),
    });
    expect(ending.stdout).toBe('');
  });
});

describe('against the flow', () => {
  it.each(violations)('[G1, G40] %s is reported', async (_name, file, specifier, rule) => {
    const lines = await reportViolations();
    expect(lines).toContainEqual(expect.stringContaining(`${file}:2 imports ${specifier}: `));
    expect(lines.find((line) => line.startsWith(`${file}:`))).toContain(rule);
  });

  it('[G1] every import that breaks a rule is reported once', async () => {
    expect(await reportViolations()).toHaveLength(violations.length);
  });

  it('[G1] a second file that knows the driver is reported, with the first', async () => {
    const ending = await checkArrows({
      [`${server}/store/postgres/a.ts`]: "import { Pool } from 'pg';",
      [`${server}/store/postgres/b.ts`]: "import type { Client } from 'pg';",
    });
    expect(ending.stdout).toContain(
      `${server}/store/postgres/b.ts:1 imports pg: one file knows PostgreSQL, and ${server}/store/postgres/a.ts`,
    );
  });

  it('[G23] files that import each other are reported, also where only types are imported', async () => {
    const ending = await checkArrows({
      [`${server}/base/a.ts`]: "import type { B } from './b.ts';",
      [`${server}/base/b.ts`]: "import { c } from './c.ts';",
      [`${server}/base/c.ts`]: "import type { A } from './a.ts';",
    });
    const names = ['a', 'b', 'c'].map((name) => `${server}/base/${name}.ts`);
    expect(ending.stdout).toBe(
      `${names[0]}:1 imports itself through ${names.join(', ')}: move what they share into a file of its own\n`,
    );
  });

  it('[G1] files of the command line that import each other in a circle are reported, also by types alone', async () => {
    const ending = await checkArrows({
      'packages/cli/src/terminal/a.ts': "import type { B } from './b.ts';",
      'packages/cli/src/terminal/b.ts': "import { a } from './a.ts';",
    });
    expect(ending.stdout).toContain('packages/cli/src/terminal/a.ts:1 imports itself through ');
  });

  it.each([
    ["export { a } from\n  'node:fs';", 2],
    ["import 'node:fs';", 1],
    ["const a = 1;\nconst fs = await import('node:fs');", 2],
    ["const fs = require('node:fs');", 1],
    ["const fs = process.getBuiltinModule('node:fs');", 1],
    ["const text = `${await import('node:fs')}`;", 1],
  ])('[G1] every form of import is seen: %s', async (source, line) => {
    const ending = await checkArrows({ [`${protocol}/sse/a.ts`]: source });
    expect(ending.stdout).toContain(`${protocol}/sse/a.ts:${line} imports node:fs: `);
  });

  it('[G1] a folder or package without a place among the arrows is reported', async () => {
    const ending = await checkArrows({ [`${server}/misc/a.ts`]: '', 'packages/extra/src/a.ts': '' });
    expect(ending.stdout).toContain(`${server}/misc/a.ts:1 is in an unknown folder: add misc to folderArrows.server`);
    expect(ending.stdout).toContain('packages/extra/src/a.ts:1 is in an unknown package: add extra to packageArrows');
  });
});

function checkArrows(files: Record<string, string>) {
  return runOnTree('check-arrows.mjs', { ...manifests, ...files });
}

/** All violations lie in one tree, each in its own file: one run of the program instead of thirty. */
let report: Promise<string[]> | undefined;

function reportViolations(): Promise<string[]> {
  const files = violations.map(([, file, specifier]) => [file, `// first line\nimport { a } from '${specifier}';\n`]);
  report ??= checkArrows(Object.fromEntries(files)).then(({ stdout }) => stdout.trimEnd().split('\n'));
  return report;
}
