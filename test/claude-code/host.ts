import { startServer } from '../../packages/server/src/server.ts';

// A server with the real program in a process of its own, for tests that kill it.
// Usage: node host.mjs <directory> <program> [environment as JSON, by default its own] [unsandboxed]

const [directory, program, environment, place] = process.argv.slice(2);
const claudeCode = {
  program,
  ...(environment === undefined ? {} : { environment: JSON.parse(environment) as Record<string, string> }),
  workspaces: ['wrkspc_default'],
  isUnsandboxed: place === 'unsandboxed',
};
const server = await startServer({ dataDirectory: directory!, isOpen: true, claudeCode });
process.stdout.write(`${server.port}\n`);
process.once('SIGTERM', () => void server.close());
