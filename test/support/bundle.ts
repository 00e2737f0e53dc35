import { join } from 'node:path';
import { repositoryRoot } from './root.ts';
import { runViteBuild } from './run-vite-build.ts';

export interface Bundle {
  /** One minified module. */
  code: string;
  /** Imports by package name in any bundled module. */
  bareImports: string[];
}

/** Bundles a module with its dependencies for a web page. The path is relative to the root. */
export async function bundle(path: string): Promise<Bundle> {
  const { files, bareImports } = await runViteBuild({
    resolve: { conditions: ['fleetloom-source', 'module', 'browser', 'default'] },
    build: {
      write: false,
      minify: true,
      modulePreload: { polyfill: false },
      // An application's build: a library's would keep the white space.
      rolldownOptions: {
        input: join(repositoryRoot, path),
        preserveEntrySignatures: 'strict',
        output: { format: 'es' },
      },
    },
  });
  const [only, ...others] = files;
  if (only?.type !== 'chunk' || others.length > 0) throw new Error(`${path} became ${files.length} files, not one`);
  return { code: only.code, bareImports };
}
