import { expect, it } from 'vitest';
import { toParts } from './to-parts.ts';

it('[OC13] texts, images and documents of a message are parts of opencode; what it has no form for is text', () => {
  expect(
    toParts([
      { type: 'text', text: 'Look.' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'document', title: 'Notes', source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Plain.' } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      { type: 'image', source: { type: 'file', file_id: 'file_1' } },
    ]),
  ).toEqual([
    { type: 'text', text: 'Look.' },
    { type: 'file', mime: 'image/png', url: 'data:image/png;base64,AAAA' },
    { type: 'file', mime: 'application/pdf', url: 'data:application/pdf;base64,BBBB', filename: 'Notes' },
    { type: 'text', text: 'Plain.' },
    { type: 'file', mime: 'image/*', url: 'https://example.com/a.png' },
    { type: 'text', text: expect.stringContaining('file_1') },
  ]);
});
