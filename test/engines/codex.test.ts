import { codexCapabilities } from '../../packages/server/src/engines/program/codex/codex-capabilities.ts';
import { programSuite } from '../../packages/server/src/engines/program/program.suite.ts';
import { describeWithProgram } from '../support/programs.ts';
import { codeWords, directWords, openCodexPrograms } from './codex-programs.ts';

// The contract of program engines, with the real Codex.
describeWithProgram('codex', 'the engine', ({ path, version }) => {
  const common = { version, isTapped: true, controls: [], capabilities: codexCapabilities };
  programSuite('a model that calls tools directly', {
    create: () => openCodexPrograms(path, 'codex/gpt-5.5'),
    words: directWords,
    ...common,
  });
  programSuite('a model with code mode', {
    create: () => openCodexPrograms(path, 'codex/gpt-6.1-sol'),
    words: codeWords,
    ...common,
  });
});
