import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runProgram } from '../../../base/process/run-program.ts';
import { programControls } from '../program-controls.ts';
import { converse, said, script } from './conversation.suite.ts';
import { PROGRAM_TEST_MS, type ProgramUnderTest } from './program-under-test.suite.ts';

/** Tests of control requests, which a running program answers outside of turns. */
export function controlsSuite({ tested, words, controls }: ProgramUnderTest): void {
  const has = (control: (typeof controls)[number]) => controls.includes(control);

  it(
    '[J380] a program says which requests it answers, before it runs and while it runs',
    async () => {
      expect((await tested().engine.describe()).controls).toEqual(controls);
      const { program } = await converse(tested());
      expect(program.controls).toEqual(controls);
      // An unsupported request is answered too.
      for (const type of programControls.filter((control) => !has(control) && control !== 'rewind')) {
        expect(await program.control({ type } as { type: 'usage' | 'diff' })).toEqual({ type: 'unsupported' });
      }
      await program.close();
      expect(await program.control({ type: 'usage' })).toEqual({ type: 'exited' });
    },
    PROGRAM_TEST_MS,
  );

  it.runIf(has('usage'))(
    '[J381] the usage that a program reports grows with its requests, by model',
    async () => {
      const { program, ask } = await converse(tested());
      expect(await program.control({ type: 'usage' })).toMatchObject({ type: 'usage', models: [] });
      await ask(`Go. ${script([{ say: 'One.' }])}`);
      const used = await program.control({ type: 'usage' });
      await program.close();
      expect(used).toMatchObject({ type: 'usage', models: [{ inputTokens: expect.any(Number) }] });
      expect(used.type === 'usage' && used.models[0]!.inputTokens).toBeGreaterThan(0);
    },
    PROGRAM_TEST_MS,
  );

  it.runIf(has('diff'))(
    '[J382] the diff of a workspace has what differs from its repository, or why there is none',
    async () => {
      const without = await converse(tested());
      expect(await without.program.control({ type: 'diff' })).toMatchObject({ type: 'diff', files: [] });
      await without.program.close();

      const directory = join(tested().directory, 'repository');
      await mkdir(directory);
      await writeFile(join(directory, 'kept.txt'), 'one\ntwo\n');
      const author = ['-c', 'user.email=a@example.com', '-c', 'user.name=a'];
      const git = async (...args: string[]) => {
        const bounds = { timeoutMs: 10_000, outputBytesMax: 100_000 };
        expect(await runProgram('git', ['-C', directory, ...author, ...args], bounds)).toMatchObject({ code: 0 });
      };
      await git('init', '--quiet');
      await git('add', '.');
      await git('commit', '--quiet', '--message', 'first');
      await writeFile(join(directory, 'kept.txt'), 'one\nthree\n');
      const { program } = await converse({ ...tested(), directory });
      const diff = await program.control({ type: 'diff' });
      await program.close();
      expect(diff).toEqual({
        type: 'diff',
        files: [
          {
            path: 'kept.txt',
            status: 'modified',
            added: 1,
            removed: 1,
            isBinary: false,
            patch: '@@ -1,2 +1,2 @@\n one\n-two\n+three',
          },
        ],
        filesOmitted: 0,
        reason: null,
      });
    },
    PROGRAM_TEST_MS,
  );

  it.runIf(has('rewind'))(
    '[J383] files that the program has edited go back to what they were before a message, also in a later process',
    async () => {
      const { directory } = tested();
      const [old, fresh] = [join(directory, 'rewound-old.txt'), join(directory, 'rewound-new.txt')];
      await writeFile(old, 'original\n');
      const first = await converse(tested());
      const opened = first.next('opened');
      const steps = script(
        [words.read(old)],
        [words.write(old, 'one\n'), words.write(fresh, 'new\n')],
        [{ say: 'One.' }],
        [words.write(old, 'two\n')],
        [{ say: 'Two.' }],
      );
      first.program.say(said(`Go. ${steps}`), 'sevt_first');
      await first.next('turn_ended');
      first.program.say(said('And now?'), 'sevt_second');
      await first.next('turn_ended', 1);
      expect(await readFile(old, 'utf8')).toBe('two\n');
      const rewind = { type: 'rewind', messageId: 'sevt_second' } as const;
      const tried = await first.program.control({ ...rewind, isDryRun: true });
      expect(tried).toEqual({ type: 'rewind', isDryRun: true, files: [old], added: 1, removed: 1 });
      expect(await readFile(old, 'utf8')).toBe('two\n');
      expect(await first.program.control({ ...rewind, isDryRun: false })).toEqual({ ...tried, isDryRun: false });
      expect(await readFile(old, 'utf8')).toBe('one\n');
      expect(await first.program.control({ ...rewind, messageId: 'sevt_unknown', isDryRun: false })).toMatchObject({
        type: 'failed',
        message: expect.stringContaining('No file checkpoint'),
      });
      await first.program.close();

      const second = await converse(tested(), { resume: (await opened).conversation });
      const back = await second.program.control({ type: 'rewind', messageId: 'sevt_first', isDryRun: false });
      await second.program.close();
      expect(back).toMatchObject({ type: 'rewind', files: expect.arrayContaining([old, fresh]) });
      expect(await readFile(old, 'utf8')).toBe('original\n');
      await expect(stat(fresh)).rejects.toThrow('ENOENT');
    },
    PROGRAM_TEST_MS,
  );

  it.runIf(has('rewind'))(
    '[J384] a session that resumes the conversation of another one cannot rewind to the messages of that one',
    async () => {
      const { directory } = tested();
      const file = join(directory, 'not-rewound.txt');
      const first = await converse(tested(), { sessionId: 'sesn_source' });
      first.program.say(said(`Go. ${script([words.write(file, 'one\n')], [{ say: 'One.' }])}`), 'sevt_first');
      const { conversation } = await first.next('opened');
      const { message } = await first.next('turn_ended');
      await first.program.close();
      const place = { sessionId: 'sesn_fork', directory };
      const copied = { conversation, message: message!, from: { ...place, sessionId: 'sesn_source' }, to: place };
      expect(await tested().engine.copyConversation(copied)).toBe(true);
      const fork = await converse(tested(), { sessionId: 'sesn_fork', resume: conversation, forkAt: message! });
      const answer = await fork.program.control({ type: 'rewind', messageId: 'sevt_first', isDryRun: false });
      await fork.program.close();
      expect(answer.type).toBe('failed');
      expect(await readFile(file, 'utf8')).toBe('one\n');
    },
    PROGRAM_TEST_MS,
  );
}
