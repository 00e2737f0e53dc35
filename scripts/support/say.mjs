/** Writes a message to stderr: stdout is for the result of a command. */
export function say(line = '') {
  process.stderr.write(`${line}\n`);
}

/**
 * Shows the progress of an action and how long it took, always on one line: `installing packages … 12.3 s`.
 * On a terminal the time ticks. `action` resolves to false when it failed.
 */
export async function withProgress(label, action) {
  const startedAt = Date.now();
  const isTerminal = process.stderr.isTTY;
  process.stderr.write(`${label} … `);
  const ticker = isTerminal ? setInterval(() => redraw(seconds(startedAt, 0)), 1000) : undefined;
  let isOk = false;
  try {
    isOk = (await action()) !== false;
  } finally {
    clearInterval(ticker);
    const result = isOk ? seconds(startedAt) : `failed after ${seconds(startedAt)}`;
    if (isTerminal) redraw(`${result}\n`);
    else process.stderr.write(`${result}\n`);
  }
  return isOk;

  function redraw(text) {
    process.stderr.write(`\r\u001b[K${label} … ${text}`);
  }
}

export function seconds(startedAt, digits = 1) {
  return `${((Date.now() - startedAt) / 1000).toFixed(digits)} s`;
}

/** The last lines of an output, where programs print the reason. */
export function tail(text, lines = 25) {
  return text.trimEnd().split('\n').slice(-lines).join('\n');
}

/** Prints an error message and ends the process. */
export function giveUp(message) {
  say(`\n${message}`);
  process.exit(1);
}
