// The program of the tool host: one process per session, which runs the tools that work on its files. The server starts
// it, in the sandbox where there is one, and speaks with it through its stdin and stdout. README.md has the whole.
import { serve } from './program/serve.ts';

// Not `node`: agents end their own programs with `pkill node`.
process.title = 'fleetloom-host';

const [, , gitSocket, gitPort] = process.argv;
// Most sessions have no repositories, and what is loaded is paid for by all of them.
if (gitSocket !== undefined) {
  const { relayToSocket } = await import('./program/relay-to-socket.ts');
  await relayToSocket(gitSocket, Number(gitPort));
}
await serve(process.stdin, process.stdout);
// Whatever a tool still waits for, the server that wanted it is gone.
process.exit();
