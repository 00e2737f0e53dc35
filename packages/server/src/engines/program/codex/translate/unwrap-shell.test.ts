import { expect, it } from 'vitest';
import { unwrapShell } from './unwrap-shell.ts';

it('[CX6] a command is shown as the model wrote it, without the shell that Codex runs it in', () => {
  expect(unwrapShell("/bin/bash -lc 'echo alpha'")).toBe('echo alpha');
  expect(unwrapShell('/bin/bash -lc ls')).toBe('ls');
  expect(unwrapShell(`/bin/bash -lc "printf 'a\\\\xff' \\"b\\""`)).toBe(`printf 'a\\xff' "b"`);
  expect(unwrapShell(`bash -c 'it'"'"'s'`)).toBe("it's");
  expect(unwrapShell("/usr/bin/zsh -lc 'a  b\nc'")).toBe('a  b\nc');
  // Of another form.
  for (const line of ['git status', "/bin/bash -lc 'open", '/bin/bash -lc a b', 'python -c x', '']) {
    expect(unwrapShell(line)).toBe(line);
  }
});
