import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['fleetloom-source', 'node', 'import', 'module', 'default'] },
  ssr: { resolve: { conditions: ['fleetloom-source', 'node', 'import', 'module', 'default'] } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default'],
    typecheck: { enabled: false },
  },
});
