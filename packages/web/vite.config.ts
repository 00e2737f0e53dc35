import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { describeDemo } from '../cli/src/demo-fleet/describe-demo.ts';

const here = import.meta.dirname;

export default defineConfig({
  root: here,
  // Relative, so that the pages work below any path.
  base: './',
  plugins: [react()],
  // From the sources: the other packages need not be compiled first.
  resolve: { conditions: ['fleetloom-source', 'module', 'browser', 'default'] },
  // The button begins the very demo of `fleetloom start --demo 25`, which is told in one place only.
  define: { FLEETLOOM_DEMO: JSON.stringify(await describeDemo(25)) },
  worker: { format: 'es' },
  build: {
    // The server's package brings the pages along.
    outDir: join(here, '..', 'server', 'dist', 'web'),
    emptyOutDir: true,
    modulePreload: false,
    target: 'es2023',
    // Data in the page would need exceptions in its policy.
    assetsInlineLimit: 0,
    rolldownOptions: { input: ['index.html', 'login.html', 'recording.html'].map((name) => join(here, name)) },
  },
});
