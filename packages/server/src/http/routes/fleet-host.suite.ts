import { startServer } from '../../server.ts';

// A server in a process of its own, for tests that kill it. Usage: node fleet-host.mjs <directory>

const server = await startServer({ dataDirectory: process.argv[2]!, isOpen: true });
process.stdout.write(`${server.port}\n`);
