/** A line and its byte offset. */
export interface Line {
  readonly text: string;
  readonly offset: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The lines of a byte stream, as they arrive. Bytes after the last line end form a line too. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<Line, void, undefined> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let [rest, offset] = [new Uint8Array(0), 0];
  const toLine = (bytes: Uint8Array<ArrayBuffer>): Line => ({ text: decoder.decode(bytes), offset, bytes });
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      let chunk = join(rest, value);
      for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF)) {
        yield toLine(chunk.slice(0, end));
        offset += end + 1;
        chunk = chunk.subarray(end + 1);
      }
      rest = chunk;
    }
    if (rest.length > 0) yield toLine(rest.slice());
  } finally {
    // The consumer may stop early: the rest of the stream is not downloaded.
    await reader.cancel().catch(() => {});
  }
}

const LF = 10;

function join(left: Uint8Array, right: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(left.length + right.length);
  both.set(left);
  both.set(right, left.length);
  return both;
}
