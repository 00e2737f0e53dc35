import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const here = import.meta.dirname;

export default defineConfig({
  root: here,
  // Relative, so that the pages work below any path.
  base: './',
  plugins: [react()],
  // From the sources: the other packages need not be compiled first.
  resolve: { conditions: ['fleetloom-source', 'module', 'browser', 'default'] },
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
