import { programCapabilities } from '../../packages/server/src/engines/program/claude-code/capabilities.ts';
import type { ProgramControl } from '../../packages/server/src/engines/program/program-controls.ts';
import { programSuite, programTurnsSuite } from '../../packages/server/src/engines/program/program.suite.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { openPrograms, words } from './open-program.ts';

// The contract of program engines, with the real program.
await describeWithClaudeCode('the engine with the real program', ({ path, version }) => {
  // 2.1.197 answers `get_workspace_diff` with "Unsupported control request subtype".
  const controls: readonly ProgramControl[] = version === '2.1.197' ? ['usage', 'rewind'] : ['usage', 'diff', 'rewind'];
  const options = (isTapped: boolean) => {
    const create = () => openPrograms(path, { isTapped });
    return { create, words, version, isTapped, controls, capabilities: programCapabilities };
  };
  programSuite('through the gateway', options(true));
  programTurnsSuite('without the gateway', options(false));
});
