import { join } from 'node:path';
import { setUp } from './setup.mjs';
import { repositoryRoot } from './support/root.mjs';
import { exitLike, run } from './support/run.mjs';

// Measures plain JavaScript in plain Node: bundled from the sources beforehand, not minified, so that no loader and no
// transformation is part of a figure and a profile shows our own names.
await setUp({ build: true });
const bundle = await bundleBench();
const args = process.argv.slice(process.argv[2] === '--' ? 3 : 2);
exitLike(await run(process.execPath, ['--expose-gc', bundle, ...args], { cwd: repositoryRoot, inherit: true }));

async function bundleBench() {
  // Imported here because before setUp there may be no vite.
  const { build } = await import('vite');
  const outDir = join(repositoryRoot, '.cache', 'bench');
  await build({
    root: repositoryRoot,
    configFile: false,
    logLevel: 'warn',
    ssr: { resolve: { conditions: ['fleetloom-source', 'node', 'import', 'module', 'default'] } },
    build: {
      ssr: 'bench/main.ts',
      outDir,
      emptyOutDir: true,
      target: 'node20',
      minify: false,
      rolldownOptions: {
        // Benchmarks compute results that are not used.
        treeshake: false,
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
      },
    },
  });
  return join(outDir, 'main.mjs');
}
