/** The values of a header in a raw list of names and values, as Node has it. */
export function listValues(raw: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) if (raw[at]!.toLowerCase() === name) values.push(raw[at + 1]!);
  return values;
}

/** The host of a Host header, with its port; undefined if it is not one. */
export function toHost(text: string, usualPort: number): string | undefined {
  if (!/^[^\s/?#@\\%]+$/.test(text) || !URL.canParse(`http://${text}`)) return undefined;
  const { hostname } = new URL(`http://${text}`);
  const port = /:(\d+)$/.exec(text.replace(/^\[[^\]]*\]/, ''))?.[1] ?? String(usualPort);
  return `${hostname.replace(/\.$/, '')}:${Number(port)}`;
}

/** The headers that are meant for the other end, without those of this connection and of the proxy. */
export function dropHopByHop(raw: readonly string[]): string[] {
  const named = listValues(raw, 'connection').flatMap((value) => value.toLowerCase().split(','));
  const dropped = new Set([...HOP_BY_HOP, ...named.map((name) => name.trim()).filter((name) => !FRAMING.has(name))]);
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if (!dropped.has(raw[at]!.toLowerCase())) kept.push(raw[at]!, raw[at + 1]!);
  }
  return kept;
}

/** Without them the host would take a body for another request, or the request for one to another site. */
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
