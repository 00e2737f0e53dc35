import { InvalidArgumentError } from 'commander';
import type { DeclareCommand } from '../context.ts';

/** `fleetloom demo`. */
export const declareDemo: DeclareCommand = (program, { io, done }) =>
  program
    .command('demo')
    .description('Play a recorded run of several agents; needs no API key')
    .option('--speed <factor>', 'playback speed: 2 is twice as fast, 0.5 half as fast', parseSpeed, 1)
    .addHelpText('after', EXAMPLES)
    .action(async (options: { speed: number }) => {
      const { demo } = await import('../../stream-json/demo.ts');
      done(await demo(io, options));
    });

function parseSpeed(value: string): number {
  const speed = Number(value);
  if (!(speed > 0) || !Number.isFinite(speed)) throw new InvalidArgumentError('Pass a number above 0, such as 2.');
  return speed;
}

const EXAMPLES = `
Examples:
  $ fleetloom demo
  $ fleetloom demo --speed 3

Exit codes:
  0    played to the end
  130  stopped with Ctrl-C`;
