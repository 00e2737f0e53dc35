import type { Sandbox } from './sandbox.ts';

/** Runs programs with the rights of the server, on the whole machine. Only if the operator allows it. */
export function createNoSandbox(env: NodeJS.ProcessEnv = process.env): Sandbox {
  const kept = Object.entries(env).flatMap(([name, value]) => {
    return value !== undefined && KEPT.test(name) ? [[name, value] as const] : [];
  });
  return {
    launch: ({ program, args, environment }) => ({
      file: program,
      args,
      // Not the whole environment of the server, which contains keys of models and databases.
      env: { ...Object.fromEntries(kept), TERM: 'dumb', ...environment },
      data: [],
    }),
  };
}

const KEPT = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_[A-Z]+|TZ|TMPDIR)$/;
