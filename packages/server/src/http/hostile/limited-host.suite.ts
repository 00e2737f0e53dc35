import { once } from 'node:events';
import { inBackground } from '../../base/in-background.ts';
import { startServer } from '../../server.ts';

// A server in a process of its own, whose resources tests limit. It prints its address as one line of JSON.

const [dataDirectory = ''] = process.argv.slice(2);
const say = (line: object) => console.log(JSON.stringify(line));
// Loading all modules needs more descriptors than some tests allow.
say({ isLoaded: true });
await once(process.stdin, 'data');
process.stdin.destroy();
const server = await startServer({
  dataDirectory,
  allowUnsandboxedBash: true,
  onProblem: (problem) => say({ problem: String(problem) }),
  log: { onError: (error) => say({ unexpected: error instanceof Error ? error.stack : String(error) }) },
});
say({ url: server.url, port: server.port, key: server.firstKey });
process.once('SIGTERM', () => {
  inBackground(
    server.close().then(() => process.exit(0)),
    () => process.exit(1),
  );
});
