import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  // Relative, so that the page works below any path.
  base: './',
  // From the sources: the other packages need not be compiled first.
  resolve: { conditions: ['fleetloom-source', 'module', 'browser', 'default'] },
  build: { outDir: 'dist', emptyOutDir: true, modulePreload: false },
});
