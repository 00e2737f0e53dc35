import { join } from 'node:path';
import { setUp } from './setup.mjs';
import { repositoryRoot } from './support/root.mjs';
import { exitLike, run } from './support/run.mjs';

// `npm start -- --port 4000` installs, builds and shows the demo; what follows `--` goes to `fleetloom demo`.
await setUp({ build: true });
const command = join(repositoryRoot, 'packages', 'cli', 'dist', 'main.js');
const args = process.argv.slice(process.argv[2] === '--' ? 3 : 2);
exitLike(await run(process.execPath, [command, 'demo', ...args], { inherit: true }));
