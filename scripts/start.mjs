import { join } from 'node:path';
import { setUp } from './setup.mjs';
import { repositoryRoot } from './support/root.mjs';
import { exitLike, run } from './support/run.mjs';

// `npm start -- --demo 25` installs, builds and starts; what follows `--` goes to `fleetloom start`.
await setUp({ build: true });
const command = join(repositoryRoot, 'packages', 'cli', 'dist', 'main.js');
const args = process.argv.slice(process.argv[2] === '--' ? 3 : 2);
exitLike(await run(process.execPath, [command, 'start', ...args], { inherit: true }));
