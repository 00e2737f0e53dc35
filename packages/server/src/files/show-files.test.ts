import { expect, it, vi } from 'vitest';
import type { InputBlock } from '../base/content.ts';
import { createNoProgramEngine, toEndedProgram } from '../engines/program/no-program.ts';
import type { ProgramOptions } from '../engines/program/program.ts';
import type { FileStore } from './file-store.ts';
import type { ModelRequest } from '../engines/model/engine.ts';
import type { Message } from '../base/content.ts';
import { fileLimits } from './limits.ts';
import { showFiles, showFilesToPrograms } from './show-files.ts';

it('[J31] files that people show a program by their ids reach it with their content', async () => {
  const heard: unknown[] = [];
  const program = {
    ...toEndedProgram(''),
    say: (content: readonly InputBlock[]) => void heard.push(content),
    giveResult: (callId: string, { content }: { content: readonly unknown[] }) => void heard.push([callId, content]),
  };
  const engine = { ...createNoProgramEngine(''), open: async () => program };
  const read = async () => ({ metadata: { mime_type: 'image/png' }, content: Buffer.from('pixels') });
  // Only what is read of a file is there.
  const files = { read } as unknown as Pick<FileStore, 'read'>;
  const opened = await showFilesToPrograms(engine, files).open({} as ProgramOptions);
  const image: InputBlock = { type: 'image', source: { type: 'file', file_id: 'file_1' } };
  const text: InputBlock = { type: 'text', text: 'Look.' };
  opened.say([text]);
  opened.say([text, image]);
  opened.giveResult('t1', { content: [image], isError: false });
  const shown = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'cGl4ZWxz' } };
  await vi.waitFor(() => expect(heard).toEqual([[text], [text, shown], ['t1', [shown]]]), 20_000);
});

const image = (id: string): InputBlock => ({ type: 'image', source: { type: 'file', file_id: id } });
const textOf = (text: string): InputBlock => ({ type: 'text', text });
const failure = (code: string) => Object.assign(new Error(`${code}: no`), { code });

/** A program that records its input, with files whose reading is up to the test. */
async function openProgram(read: (id: string) => Promise<unknown>) {
  const heard: unknown[] = [];
  const problems: unknown[] = [];
  const program = { ...toEndedProgram(''), say: (content: readonly InputBlock[]) => void heard.push(content) };
  const engine = { ...createNoProgramEngine(''), open: async () => program };
  const files = { read } as unknown as Pick<FileStore, 'read'>;
  const report = (problem: unknown) => void problems.push(problem);
  const opened = await showFilesToPrograms(engine, files, report).open({} as ProgramOptions);
  return { opened, heard, problems };
}

it('[H88] a file that cannot be read for a program is replaced by a sentence and reported, and the program continues', async () => {
  const { opened, heard, problems } = await openProgram(async () => {
    throw failure('EIO');
  });
  opened.say([textOf('Look.'), image('file_1')]);
  await vi.waitFor(() => expect(heard).toEqual([[textOf('Look.'), textOf('[The file file_1 cannot be read.]')]]));
  expect(problems.map(String)).toEqual(['Error: EIO: no']);
});

it('[H88] a program receives messages in the order in which they were sent, also when a file takes long to read', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const { opened, heard } = await openProgram(async () => {
    await held;
    return { metadata: { mime_type: 'image/png' }, content: Buffer.from('x') };
  });
  opened.say([textOf('1')]);
  opened.say([image('file_1')]);
  opened.say([textOf('2')]);
  expect(heard).toEqual([[textOf('1')]]);
  release();
  await vi.waitFor(() => expect(heard).toHaveLength(3));
  expect(heard[2]).toEqual([textOf('2')]);
  opened.say([textOf('3')]);
  expect(heard).toHaveLength(4);
});

it('[H88] while the machine has no descriptors a file is read again, for a program a few times, for a model by its retries', async () => {
  let attempts = 0;
  const { opened, heard } = await openProgram(async () => {
    if (++attempts < 3) throw failure('EMFILE');
    return { metadata: { mime_type: 'image/png' }, content: Buffer.from('x') };
  });
  opened.say([image('file_1')]);
  await vi.waitFor(() => expect(heard).toMatchObject([[{ type: 'image', source: { data: 'eA==' } }]]), 20_000);
  const [event] = await request(async () => {
    throw failure('EMFILE');
  }, [{ role: 'user', content: [image('file_1')] }]);
  expect(event).toMatchObject({
    reason: 'request_failed',
    consequence: 'retry',
    message: expect.stringContaining('EMFILE'),
  });
});

it('[H88] after 10 attempts within about 2 s a program receives a sentence instead of the file, and it is reported', async () => {
  let attempts = 0;
  const { opened, heard, problems } = await openProgram(async () => {
    attempts += 1;
    throw failure('EMFILE');
  });
  opened.say([image('file_1')]);
  await vi.waitFor(() => expect(heard).toEqual([[textOf('[The file file_1 cannot be read.]')]]), 20_000);
  expect([attempts, fileLimits.shownFileAttemptsMax, problems.map(String)]).toEqual([10, 10, ['Error: EMFILE: no']]);
});

it('[H88] a model request shows the newest files that fit, and names the ones that do not', async () => {
  const half = Math.ceil(fileLimits.shownFilesBytesMax / 2);
  const read = async () => ({ metadata: { mime_type: 'image/png' }, content: Buffer.alloc(half) });
  const messages: Message[] = ['file_1', 'file_2', 'file_3'].map((id) => ({ role: 'user', content: [image(id)] }));
  const [event] = await request(read, messages);
  const [oldest, ...newer] = (event as unknown as { messages: Message[] }).messages;
  expect(oldest!.content).toEqual([
    textOf('[The file file_1 is left out: there is no room for more files in one request.]'),
  ]);
  expect(newer.map(({ content }) => (content[0] as { type: string }).type)).toEqual(['image', 'image']);
  const broken = async () => {
    throw failure('EISDIR');
  };
  expect(await request(broken, [messages[0]!])).toMatchObject([
    { messages: [{ content: [textOf('[The file file_1 cannot be read.]')] }] },
  ]);
});

/** The request that reaches the engine, or the failure that ends it before. */
async function request(read: () => Promise<unknown>, messages: readonly Message[]) {
  const asked = { messages } as unknown as ModelRequest;
  const files = { read } as unknown as Pick<FileStore, 'read'>;
  return [await showFiles(asked, files, () => {})];
}
