import { type ServerOptions, startServer } from '../../packages/server/src/server.ts';

// A server with the real program in a process of its own, for tests that kill it.
// Usage: node host.mjs <directory> <program> [environment as JSON, by default its own] [unsandboxed] [more server options as JSON]

const [directory, program, environment, place, more] = process.argv.slice(2);
const claudeCode = {
  program,
  ...(environment === undefined ? {} : { environment: JSON.parse(environment) as Record<string, string> }),
  workspaces: ['wrkspc_default'],
  isUnsandboxed: place === 'unsandboxed',
};
// The cast: tests write these options.
const options = JSON.parse(more ?? '{}') as Partial<ServerOptions>;
const server = await startServer({ dataDirectory: directory!, isOpen: true, claudeCode, ...options });
process.stdout.write(`${server.port}\n`);
process.once('SIGTERM', () => void server.close());
