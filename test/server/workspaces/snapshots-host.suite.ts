import { startServer } from '../../../packages/server/src/server.ts';

// A server in a process of its own, to be killed: `node <this> <data directory> <allowed directory>`.
const [dataDirectory = '', allowed = ''] = process.argv.slice(2);
const server = await startServer({
  dataDirectory,
  allowedDirectories: [allowed],
  allowUnsandboxedBash: true,
  isOpen: true,
});
console.log(server.url);
