import { expect, it, vi } from 'vitest';
import type { InputBlock } from '../../base/content.ts';
import { toEndedProgram } from '../../engines/no-program.ts';
import type { ProgramOptions } from '../../engines/program.ts';
import type { FileStore } from './file-store.ts';
import { showFilesToPrograms } from './show-files.ts';

it('[J31] files that people show a program by their ids reach it with their content', async () => {
  const heard: unknown[] = [];
  const program = {
    ...toEndedProgram(''),
    say: (content: readonly InputBlock[]) => void heard.push(content),
    giveResult: (callId: string, { content }: { content: readonly unknown[] }) => void heard.push([callId, content]),
  };
  const engine = { open: async () => program, reap: async () => 0, close: async () => {} };
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
