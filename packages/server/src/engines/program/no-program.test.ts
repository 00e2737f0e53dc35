import { describe } from 'vitest';
import { createNoProgramEngine } from './no-program.ts';
import { toOptions } from './suite/conversation.suite.ts';
import { unbegunSuite } from './suite/ended.suite.ts';

describe('where there is no program', () => {
  const engine = createNoProgramEngine('there is none here');
  unbegunSuite(() => engine.open(toOptions('/nowhere')), /^there is none here$/);
});
