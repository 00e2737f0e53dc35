import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { describeDemo } from '../cli/src/demo-fleet/describe-demo.ts';

const here = import.meta.dirname;

export default defineConfig({
  root: here,
  // Relative, so that the pages work under any path.
  base: './',
  plugins: [react()],
  // Resolves the other packages to their sources, so that they need not be compiled first.
  resolve: { conditions: ['fleetloom-source', 'module', 'browser', 'default'] },
  // The button starts the same demo as `fleetloom start --demo 25`, which is described once, in the CLI.
  define: { FLEETLOOM_DEMO: JSON.stringify(await describeDemo(25)) },
  worker: { format: 'es' },
  build: {
    // The server's package contains the pages.
    outDir: join(here, '..', 'server', 'dist', 'web'),
    emptyOutDir: true,
    modulePreload: false,
    target: 'es2023',
    // Inlined `data:` URLs would need exceptions in the content security policy.
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: ['index.html', 'login.html', 'connected.html', 'recording.html', 'src/push-worker/push-worker.ts'].map(
        (name) => join(here, name),
      ),
      output: {
        // A service worker has a fixed address, and controls only pages beside or below it.
        entryFileNames: ({ name }) => (name === 'push-worker' ? '[name].js' : 'assets/[name]-[hash].js'),
      },
    },
  },
});
