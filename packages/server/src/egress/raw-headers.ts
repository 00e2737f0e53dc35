/** The values of a header in `rawHeaders`, Node's list of alternating names and values. */
export function listValues(raw: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) if (raw[at]!.toLowerCase() === name) values.push(raw[at + 1]!);
  return values;
}

/** The host and port of a Host header; undefined if the text is not a host. */
export function toHost(text: string, usualPort: number): string | undefined {
  if (!/^[^\s/?#@\\%]+$/.test(text) || !URL.canParse(`http://${text}`)) return undefined;
  const { hostname } = new URL(`http://${text}`);
  const port = /:(\d+)$/.exec(text.replace(/^\[[^\]]*\]/, ''))?.[1] ?? String(usualPort);
  return `${hostname.replace(/\.$/, '')}:${Number(port)}`;
}

/** The end-to-end headers, without the headers of this connection and of the proxy. */
export function dropHopByHop(raw: readonly string[]): string[] {
  const named = listValues(raw, 'connection').flatMap((value) => value.toLowerCase().split(','));
  const dropped = new Set([...HOP_BY_HOP, ...named.map((name) => name.trim()).filter((name) => !FRAMING.has(name))]);
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if (!dropped.has(raw[at]!.toLowerCase())) kept.push(raw[at]!, raw[at + 1]!);
  }
  return kept;
}

/** Headers that `Connection` cannot remove: without them the host could read a body as another request, or serve another site. */
const FRAMING: ReadonlySet<string> = new Set(['host', 'content-length']);

const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
