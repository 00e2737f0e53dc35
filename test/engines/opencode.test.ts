import { opencodeCapabilities } from '../../packages/server/src/engines/program/opencode/capabilities.ts';
import { programSuite } from '../../packages/server/src/engines/program/program.suite.ts';
import { describeWithProgram } from '../support/programs.ts';
import { openOpencodePrograms, opencodeWords } from './open-opencode.ts';

// The contract of program engines, with the real opencode.
describeWithProgram('opencode', 'the engine with the real program', ({ path, version }) => {
  const create = () => openOpencodePrograms(path);
  const about = { words: opencodeWords, capabilities: opencodeCapabilities, version, isTapped: true, controls: [] };
  programSuite('in the sandbox', { create, ...about });
});
