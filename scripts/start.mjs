import { pathToFileURL } from 'node:url';
import { setUp } from './setup.mjs';
import { programPath } from './support/bundle-program.mjs';

// `npm start -- --demo 25` installs, builds and starts; what follows `--` goes to `fleetloom start`.
await setUp({ build: true });
const command = programPath();
const args = process.argv.slice(process.argv[2] === '--' ? 3 : 2);
// In this process: a second one would start later, and would have to forward signals.
process.argv = [process.execPath, command, 'start', ...args];
await import(pathToFileURL(command).href);
