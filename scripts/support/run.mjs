import { spawn } from 'node:child_process';

/**
 * Runs a program to its end and returns how it ended. By default its output is collected; with `inherit` it uses the
 * terminal. Signals are forwarded to it, so that nothing is left running.
 */
export function run(command, args, { cwd, env = process.env, inherit = false } = {}) {
  return new Promise((resolve) => {
    const stdio = inherit ? 'inherit' : ['ignore', 'pipe', 'pipe'];
    const child = spawn(command, args, { cwd, env, stdio });
    const output = [];
    child.stdout?.on('data', (chunk) => output.push(chunk));
    child.stderr?.on('data', (chunk) => output.push(chunk));
    const received = forwardSignals(child);
    child.on('error', (error) => end({ code: 127, signal: null, output: `${command}: ${error.message}\n` }));
    child.on('close', (code, signal) => end({ code, signal, output: Buffer.concat(output).toString() }));

    function end(result) {
      received.stop();
      // An interrupted installation must not continue with its next steps.
      if (received.signal !== undefined && !inherit) process.kill(process.pid, received.signal);
      else resolve(result);
    }
  });
}

/** Ends this process the way a child ended, signal included: a shell or a supervisor can distinguish them. */
export function exitLike({ code, signal }) {
  if (signal !== null) process.kill(process.pid, signal);
  else process.exitCode = code;
}

function forwardSignals(child) {
  const received = { signal: undefined, stop };
  const handlers = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => [signal, () => onSignal(signal)]);
  for (const [signal, handler] of handlers) process.on(signal, handler);
  return received;

  function onSignal(signal) {
    received.signal = signal;
    // A terminal sends Ctrl-C to the whole group. Forwarding it would look like a second Ctrl-C.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  }

  function stop() {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  }
}
