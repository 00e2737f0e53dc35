import { join } from 'node:path';
import { build } from 'vite';
import { repositoryRoot } from './root.ts';

export interface Bundle {
  /** One minified module. */
  code: string;
  /** Imports by package name in any bundled module. */
  bareImports: string[];
}

/** Bundles a module with its dependencies for a web page. The path is relative to the root. */
export async function bundle(path: string): Promise<Bundle> {
  const bareImports = new Set<string>();
  const result = await build({
    root: repositoryRoot,
    configFile: false,
    logLevel: 'error',
    resolve: { conditions: ['fleetloom-source', 'module', 'browser', 'default'] },
    plugins: [
      {
        // Before vite's own plugin, which silently replaces Node modules by empty ones.
        name: 'note-bare-imports',
        enforce: 'pre',
        resolveId: (id: string, importer: string | undefined) => {
          if (importer !== undefined && /^[\w@]/.test(id)) bareImports.add(id);
          return undefined;
        },
      },
    ],
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
  const chunks = [result].flat().flatMap((one) => ('output' in one ? one.output : []));
  const [only, ...others] = chunks;
  if (only?.type !== 'chunk' || others.length > 0) throw new Error(`${path} became ${chunks.length} files, not one`);
  return { code: only.code, bareImports: [...bareImports] };
}
