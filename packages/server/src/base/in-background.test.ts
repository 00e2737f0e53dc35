import { expect, it, vi } from 'vitest';
import { ignoringFailure, inBackground, reportAsWarning } from './in-background.ts';

it('[D21] work that no caller waits for reports its failure, and nothing else', async () => {
  const reported: unknown[] = [];
  const error = new Error('the disk is gone');
  inBackground(Promise.reject(error), (each) => reported.push(each));
  inBackground(Promise.resolve(1), (each) => reported.push(each));
  ignoringFailure(Promise.reject(error));
  ignoringFailure(undefined);
  await new Promise((resolve) => setImmediate(resolve));
  expect(reported).toEqual([error]);
});

it('[D21] without a reporter of its own it is a warning of the process', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  inBackground(Promise.reject(new Error('late')), reportAsWarning);
  await new Promise((resolve) => setImmediate(resolve));
  expect(warn).toHaveBeenCalledWith(new Error('late'));
  warn.mockRestore();
});
