import type { Sandbox } from './sandbox.ts';

/** Programs run as we do, on the whole machine. Only for operators who say so. */
export function createNoSandbox(env: NodeJS.ProcessEnv = process.env): Sandbox {
  const kept = Object.entries(env).flatMap(([name, value]) => {
    return value !== undefined && KEPT.test(name) ? [[name, value] as const] : [];
  });
  return {
    launch: ({ program, args, environment }) => ({
      file: program,
      args,
      // Not all of ours: that has keys of models and databases in it.
      env: { ...Object.fromEntries(kept), TERM: 'dumb', ...environment },
      data: [],
    }),
  };
}

const KEPT = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_[A-Z]+|TZ|TMPDIR)$/;
