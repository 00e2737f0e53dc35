/**
 * The normalised URL of an MCP server by which credentials are found: scheme and host in lower case, without the default port, a fragment and
 * trailing slashes. Path, query, subdomain and other ports count. Undefined for text that is not a URL of a server.
 */
export function toServerKey(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, host, pathname, search } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return undefined;
  let end = pathname.length;
  while (end > 0 && pathname[end - 1] === '/') end--;
  return `url:${protocol}//${host}${pathname.slice(0, end)}${search}`;
}
