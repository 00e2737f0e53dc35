import { gzipSync } from 'node:zlib';
import type { Measured } from './harness.ts';

const ENTRY = '@fleetloom/protocol/stream-json';
const VIRTUAL = '\0size-entry';

/** The bytes that a web page loads for all of the stream-json entry: bundled, minified, gzipped. */
export async function entrySize(): Promise<Measured> {
  const value = await gzippedKb(`export * from '${ENTRY}';`);
  return { value, unit: 'kB', floor: null, ratio: null, goal: '<= 12 kB', ok: value <= 12 };
}

/** The size of only the translator from bytes to events; bundlers remove the rest. */
export async function translatorSize(): Promise<Measured> {
  const value = await gzippedKb(`export { StreamTranslator } from '${ENTRY}';`);
  return { value, unit: 'kB', floor: null, ratio: null, goal: 'reported', ok: true };
}

/** The size with the optional accelerator for growing snapshots. */
export async function acceleratedSize(): Promise<Measured> {
  const accelerator = `export { createAccelerator } from '${ENTRY}/accelerator';`;
  const value = await gzippedKb(`export { StreamTranslator } from '${ENTRY}'; ${accelerator}`);
  return { value, unit: 'kB', floor: null, ratio: null, goal: 'reported', ok: true };
}

async function gzippedKb(entry: string): Promise<number> {
  return gzipSync(await bundle(entry)).length / 1000;
}

async function bundle(entry: string): Promise<string> {
  // Imported here because it takes a second, which the other benches do not need.
  const { build } = await import('vite');
  const result = await build({
    configFile: false,
    logLevel: 'error',
    resolve: { conditions: ['fleetloom-source', 'module', 'browser', 'default'] },
    plugins: [
      {
        name: 'size-entry',
        resolveId: (id: string) => (id === VIRTUAL ? id : undefined),
        load: (id: string) => (id === VIRTUAL ? entry : undefined),
      },
    ],
    build: {
      write: false,
      minify: true,
      modulePreload: { polyfill: false },
      // An application's build: a library's would keep the white space.
      rolldownOptions: { input: VIRTUAL, preserveEntrySignatures: 'strict', output: { format: 'es' } },
    },
  });
  const outputs = Array.isArray(result) ? result : [result];
  const chunks = outputs.flatMap((one) => ('output' in one ? one.output : []));
  const code = chunks.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')).join('');
  if (!code.includes('export')) throw new Error('the bundle exports nothing');
  return code;
}
