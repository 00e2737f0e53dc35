import { startServer } from '../../server.ts';

// A server in a process of its own, for tests that kill it. Usage: node fleet-host.mjs <directory> [port]

const [directory, port = '0'] = process.argv.slice(2);
const server = await startServer({ dataDirectory: directory!, isOpen: true, port: Number(port) });
process.stdout.write(`${server.port}\n`);
