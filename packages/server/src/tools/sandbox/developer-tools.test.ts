import { describe, expect, it, vi } from 'vitest';
import { findProgram } from '../find-program.ts';
import { noSandbox, openSandboxBench } from './sandbox.suite.ts';

// Compilers and the like are started, and a busy machine takes its time for them.
vi.setConfig({ testTimeout: 60_000 });

const fetchLocal = 'fetch("http://127.0.0.1:4").catch((e) => console.log(e.cause.code))';
const worker = 'new (require("node:worker_threads").Worker)("process.exitCode = 0", { eval: true })';

/** A script for each program, and what it prints. */
const scripts: readonly [program: string, script: string, output: string][] = [
  ['bash', `bash -c 'cat <(echo one) - <<< two'`, 'one\ntwo'],
  [
    'git',
    'git init -q a && cd a && git config user.name n && git config user.email e@x && echo 1 > f && git add f && ' +
      'git commit -qm first && git gc -q && git clone -q . ../b && git -C ../b log --format=%s',
    'first',
  ],
  ['node', `node -e '${fetchLocal}; ${worker}; require("node:child_process").execSync("true")'`, 'ECONNREFUSED'],
  ['npm', 'npm --version > /dev/null && echo ok', 'ok'],
  ['python3', `python3 -c 'import subprocess, threading; print(subprocess.run(["true"]).returncode)'`, '0'],
  ['gcc', `printf 'int main(void) { return 0; }' > a.c && gcc -O2 -o a a.c && ./a && echo ok`, 'ok'],
  ['make', `printf 'all: a b\\na b:\\n\\t@echo $@\\n' > Makefile && make -s -j1`, 'a\nb'],
  [
    'tar',
    'mkdir -p d/e && echo 1 > d/e/f && ln -s f d/e/l && tar czf d.tgz d && mkdir x && tar xzf d.tgz -C x && diff -r d x/d && echo same',
    'same',
  ],
  ['cp', 'mkdir -p d && echo 1 > d/f && chmod 1750 d && cp -a d d2 && stat -c %a d2', '1750'],
  ['rg', 'mkdir -p d && echo needle > d/f && rg --files-with-matches needle d', 'd/f'],
  ['curl', 'curl -s http://127.0.0.1:4; echo $?', '7'],
  ['perl', `perl -e 'if (fork) { wait; print $? }'`, '0'],
  ['script', `script -qec 'echo in a terminal' /dev/null | tr -d '\\r'`, 'in a terminal'],
  ['mktemp', 'test -f "$(mktemp)" && echo 1 > /dev/shm/x && echo 2 > ~/y && cat /dev/shm/x ~/y', '1\n2'],
];

const found = await Promise.all(scripts.map(async ([program]) => await findProgram(program)));

describe('in the sandbox', () => {
  // Those of version managers are in a home directory, which the sandbox does not have.
  const installed = scripts.filter((_, at) => noSandbox === undefined && found[at]?.startsWith('/usr/') === true);

  it.runIf(installed.length > 0)('[U153] the usual tools of developers work', async () => {
    const { sh, workspace } = openSandboxBench();
    expect(workspace).not.toBe('');
    for (const [program, script, output] of installed) {
      const directory = `mkdir ${program} && cd ${program}`;
      expect([program, (await sh(`${directory} && ${script}`)).text]).toEqual([program, output]);
    }
  });
});
