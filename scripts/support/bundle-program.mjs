import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repositoryRoot } from './root.mjs';

/** The path of the bundled command of a clone. */
export function programPath(root = repositoryRoot) {
  return join(root, '.cache', 'program', 'main.mjs');
}

/**
 * Puts the compiled command line into a few files: loading its modules one by one takes 0.5 s of CPU time, more than half of the
 * start of a server. Each module keeps its own `import.meta`, so it finds its files where it was compiled.
 */
export async function bundleProgram() {
  const { build } = await import('vite');
  await build({
    root: repositoryRoot,
    configFile: false,
    logLevel: 'error',
    plugins: [keepImportMeta],
    // Programs of the machine, and what users install on their own.
    ssr: { noExternal: true, external: ['@photostructure/sqlite', 'pg'] },
    build: {
      ssr: join(repositoryRoot, 'packages', 'cli', 'dist', 'main.js'),
      outDir: dirname(programPath()),
      emptyOutDir: true,
      target: 'node20',
      minify: false,
      rolldownOptions: {
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs', keepNames: true },
      },
    },
  });
}

const keepImportMeta = {
  name: 'keep-import-meta',
  enforce: 'pre',
  transform: (code, id) => {
    if (!id.startsWith('/') || !/import\.meta\.(?:url|dirname)/.test(code)) return undefined;
    const own = { url: pathToFileURL(id).href, dirname: dirname(id) };
    return code.replaceAll(/import\.meta\.(url|dirname)\b/g, (_, name) => JSON.stringify(own[name]));
  },
};
