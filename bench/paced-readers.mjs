import { request } from 'node:http';

// The readers of paced sessions, in a process of their own. Each text is a sequence of stamps of the same length: the time at
// which it was written, in milliseconds since 1970.

const STAMP_CHARS = 24;

process.on('message', (/** @type {any} */ work) => void readAll(work));

async function readAll(/** @type {any} */ { port, sessions, skipMs }) {
  /** @type {number[]} */
  const delaysMs = [];
  const from = now() + skipMs;
  let stamps = 0;
  const onText = (/** @type {string} */ text) => {
    const at = now();
    for (let start = 0; start < text.length; start += STAMP_CHARS) {
      const writtenAt = Number(text.slice(start, start + STAMP_CHARS));
      stamps++;
      if (writtenAt >= from) delaysMs.push(at - writtenAt);
    }
  };
  await Promise.all(Array.from({ length: sessions }, () => read(port, onText)));
  process.send?.({ stamps, delaysMs });
}

/** The time, comparable between processes. */
function now() {
  return performance.timeOrigin + performance.now();
}

/** Starts a run, and passes on all its text until it ends. */
async function read(/** @type {number} */ port, /** @type {(text: string) => void} */ onText) {
  const response = await new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const options = {
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: '/v1/orchestrate?gate=off',
      headers,
      agent: false,
    };
    const sending = request(options, resolve).on('error', reject);
    sending.end(JSON.stringify({ agent: 'worker', message: 'Begin.' }));
  });
  let rest = '';
  for await (const chunk of response.setEncoding('latin1')) {
    const events = (rest + chunk).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const at = event.indexOf('"delta":"');
      if (at !== -1) onText(event.slice(at + 9, event.indexOf('"', at + 9)));
    }
  }
}
