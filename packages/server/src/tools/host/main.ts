// The program of the tool host: one process per session, which runs the tools that work on its files. The server starts
// it, in the sandbox where there is one, and speaks with it through its stdin and stdout. README.md has the whole.
import { serve } from './program/serve.ts';

// The process is renamed, because agents end their own programs with `pkill node`.
process.title = 'fleetloom-host';

// Sockets of the server, each with the port of loopback that leads to it. Most sessions have none, and what is loaded is
// paid for by all of them.
const [, , ...given] = process.argv;
// After `--`: a command to run with the relays, instead of serving tools.
const end = given.indexOf('--');
const relays = end === -1 ? given : given.slice(0, end);
if (relays.length > 0) {
  const { relayToSocket } = await import('./program/relay-to-socket.ts');
  for (let at = 0; at + 1 < relays.length; at += 2) await relayToSocket(relays[at]!, Number(relays[at + 1]));
}
if (end !== -1) {
  const { runCommand } = await import('./program/run-command.ts');
  process.exit(await runCommand(given.slice(end + 1)));
}
await serve(process.stdin, process.stdout);
// The server is gone, so running tools are abandoned.
process.exit();
