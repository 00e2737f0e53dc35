import { describe, it } from 'vitest';
import { acpCapabilities } from '../../packages/server/src/engines/program/acp/acp-capabilities.ts';
import { programSuite } from '../../packages/server/src/engines/program/program.suite.ts';
import { turnsSuite } from '../../packages/server/src/engines/program/suite/answers.suite.ts';
import { asksSuite } from '../../packages/server/src/engines/program/suite/asks.suite.ts';
import { interruptsSuite } from '../../packages/server/src/engines/program/suite/interrupts.suite.ts';
import { lifeSuite } from '../../packages/server/src/engines/program/suite/life.suite.ts';
import { usePrograms } from '../../packages/server/src/engines/program/suite/program-under-test.suite.ts';
import { acpWords, openAcpPrograms } from '../acp/open-acp.ts';
import { describeWithProgram, hasPrograms } from '../support/programs.ts';
import { opencodeWords } from './open-opencode.ts';
import { runsOf, stopAtRandom } from './stops.suite.ts';

const about = { capabilities: acpCapabilities, isTapped: false, controls: [] };

// The contract of program engines, with an agent of our own that is a process like any other.
describe.runIf(hasPrograms)('the agent of these tests', () => {
  programSuite('in the sandbox', { ...about, create: () => openAcpPrograms(), words: acpWords, version: '1.0.0' });

  const runs = runsOf(12);
  it(
    '[AC21] interrupts, closes and kills at random moments leave no process, and every turn ends',
    async () => {
      const create = () => openAcpPrograms({ isSandboxed: false });
      await stopAtRandom({ create, words: acpWords, runs, afterMs: 600, delegates: false });
    },
    runs * 60_000,
  );
});

// opencode does not stop to repeat requests, so it does not run the suite of failures.
describeWithProgram('opencode', 'as an ACP agent', ({ path, version }) => {
  const config = {
    model: 'scripted/default',
    small_model: 'scripted/default',
    share: 'disabled',
    autoupdate: false,
    permission: { bash: 'ask', edit: 'ask' },
    provider: {
      scripted: {
        npm: '@ai-sdk/anthropic',
        options: { baseURL: '{env:ANTHROPIC_BASE_URL}/v1', apiKey: 'none' },
        models: { default: {}, 'some-other-model': {} },
      },
    },
  };
  const variables = {
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  };
  const words = { ...opencodeWords, lostConversation: acpWords.lostConversation };
  const create = () => openAcpPrograms({ command: [path, 'acp'], variables });
  const program = usePrograms({ ...about, create, words, version });
  turnsSuite(program);
  asksSuite(program);
  interruptsSuite(program);
  lifeSuite(program);
});
