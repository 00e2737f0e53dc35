import { programSuite, programTurnsSuite } from '../../packages/server/src/engines/program.suite.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { openPrograms, words } from './open-program.ts';

// The contract of program engines, with the real program.
await describeWithClaudeCode('the engine with the real program', ({ path, version }) => {
  const options = (isTapped: boolean) => ({ create: () => openPrograms(path, { isTapped }), words, version, isTapped });
  programSuite('through the gateway', options(true));
  programTurnsSuite('without the gateway', options(false));
});
