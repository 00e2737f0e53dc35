// The child process of run-vite-build.ts: reads a configuration of vite from stdin, builds, and writes the result to stdout.
import { build } from 'vite';

let text = '';
for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;

const bareImports = new Set();
const noteBareImports = {
  // Before vite's own plugin, which silently replaces Node modules by empty ones.
  name: 'note-bare-imports',
  enforce: 'pre',
  resolveId: (id, importer) => {
    if (importer !== undefined && /^[\w@]/.test(id)) bareImports.add(id);
    return undefined;
  },
};
const result = await build({ configFile: false, logLevel: 'error', plugins: [noteBareImports], ...JSON.parse(text) });
const outputs = [result].flat().flatMap((one) => ('output' in one ? one.output : []));
const files = outputs.map((output) => ({ type: output.type, code: output.type === 'chunk' ? output.code : '' }));
process.stdout.write(JSON.stringify({ files, bareImports: [...bareImports] }));
