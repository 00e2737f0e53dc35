/** Yields the complete lines of each chunk, without newlines. Text after the last newline is the last line. */
export async function* readLines(
  bytes: AsyncIterable<Uint8Array> | null,
): AsyncGenerator<readonly string[], void, undefined> {
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest: string[] = [];
  for await (const chunk of bytes ?? []) {
    const [first = '', ...others] = utf8.decode(chunk, { stream: true }).split('\n');
    rest.push(first);
    const last = others.pop();
    if (last === undefined) continue;
    yield [rest.join(''), ...others];
    rest = [last];
  }
  const end = rest.join('') + utf8.decode();
  if (end !== '') yield [end];
}
