import { expect, it } from 'vitest';
import { programLimits } from '../../limits.ts';
import { toEditedFile } from './to-edited-file.ts';

it('[J301] an edited file has the content behind the edit, letter by letter', () => {
  const edit = { filePath: '/w/a', originalFile: 'a b a', oldString: 'a', newString: '$&' };
  expect(toEditedFile(edit)).toEqual({ path: '/w/a', content: '$& b a' });
  expect(toEditedFile({ ...edit, replaceAll: true })).toEqual({ path: '/w/a', content: '$& b $&' });
  expect(toEditedFile({ ...edit, oldString: '', originalFile: '' })).toEqual({ path: '/w/a', content: '$&' });
  expect(toEditedFile({ ...edit, newString: '' })).toEqual({ path: '/w/a', content: ' b a' });
  expect(toEditedFile({ notebook_path: '/w/n', updated_file: '{}' })).toEqual({ path: '/w/n', content: '{}' });
});

it('[J301] a result without the content, or with more than 256 KiB, gives no file', () => {
  const edit = { filePath: '/w/a', originalFile: 'a', oldString: 'a', newString: 'b' };
  expect(toEditedFile({ ...edit, originalFile: null })).toBeUndefined();
  expect(toEditedFile({ ...edit, oldString: 'c' })).toBeUndefined();
  for (const other of [undefined, 'text', [], {}, { notebook_path: '/w/n', updated_file: '' }]) {
    expect(toEditedFile(other)).toBeUndefined();
  }
  const long = 'x'.repeat(programLimits.programFileBytesMax);
  expect(toEditedFile({ notebook_path: '/w/n', updated_file: long })?.content).toBe(long);
  expect(toEditedFile({ notebook_path: '/w/n', updated_file: `${long}x` })).toBeUndefined();
});
