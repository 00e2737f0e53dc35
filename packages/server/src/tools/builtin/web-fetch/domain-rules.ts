import type { JsonObject } from '../../../base/json/json.ts';
import { ToolFailure } from '../../tool-failure.ts';
import { toStrings } from '../../toolset.ts';

/** Throws if the agent's definition does not allow the host of a URL. */
export type CheckDomain = (url: URL) => void;

/** Reads `allowed_domains` and `blocked_domains`: a host is in a domain when it is the domain or ends with a dot and it. */
export function readDomainRules(config: JsonObject): CheckDomain {
  const allowed = toStrings(config['allowed_domains']).map(normalize);
  const blocked = toStrings(config['blocked_domains']).map(normalize);
  return ({ hostname }) => {
    const host = normalize(hostname);
    if (allowed.length > 0 && !allowed.some((domain) => isIn(host, domain))) {
      throw new ToolFailure(`${hostname} cannot be fetched from: only ${allowed.join(', ')} can`);
    }
    if (blocked.some((domain) => isIn(host, domain)))
      throw new ToolFailure(`${hostname} cannot be fetched from: it is blocked`);
  };
}

function isIn(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

/** Normalises a domain, which people may write in any form, to the form of a URL's host. A trailing dot is dropped. */
function normalize(domain: string): string {
  const text = domain.trim();
  const host = URL.canParse(`http://${text}`) ? new URL(`http://${text}`).hostname : text.toLowerCase();
  return host.replace(/\.$/, '');
}
