import { describe } from 'vitest';
import { toOptions } from '../../../engines/program/suite/conversation.suite.ts';
import { endedSuite } from '../../../engines/program/suite/ended.suite.ts';
import { createTestPrograms } from './test-program.suite.ts';

describe('the program that tests of sessions talk to', () => {
  endedSuite(async () => {
    const program = await createTestPrograms().open(toOptions('/nowhere'));
    await program.close();
    return program;
  });
});
