import { mkdirSync } from 'node:fs';
import { runViteBuild } from './run-vite-build.ts';

/** What to make programs of: by the name of the program, or each by its own. */
export type Entries = Record<string, string> | string[];

/**
 * Builds programs for Node from the sources, `<name>.mjs` each, for tests that need a process of their own. The folder
 * must be within the repository, so that modules that are not bundled are found.
 */
export async function buildProgram(folder: string, entries: Entries): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await runViteBuild({
    ssr: { resolve: { conditions: ['fleetloom-source', 'node', 'import', 'module', 'default'] } },
    build: {
      ssr: true,
      outDir: folder,
      target: 'node20',
      minify: false,
      rolldownOptions: {
        input: entries,
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
      },
    },
  });
}
