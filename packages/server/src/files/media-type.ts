export const ANY_BYTES = 'application/octet-stream';

/**
 * A media type as RFC 9110 defines it, type and subtype in lower case; an invalid one is `application/octet-stream`. Node
 * rejects headers with characters outside latin1, so an unchecked value would break the download half-way.
 */
export function toMediaType(given: string | undefined): string {
  const [name = '', ...rest] = (given ?? '').split(';');
  const essence = name.trim().toLowerCase();
  if (!ESSENCE.test(essence)) return ANY_BYTES;
  const parameters = rest.map((part) => part.trim()).filter((part) => part !== '');
  const whole = [essence, ...parameters].join('; ');
  // Invalid parameters are dropped, the type is kept.
  return parameters.every((part) => PARAMETER.test(part)) && whole.length <= CHARS_MAX ? whole : essence;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9a-zA-Z-]";
const ESSENCE = new RegExp(`^${TOKEN}{1,100}/${TOKEN}{1,100}$`);
const PARAMETER = new RegExp(`^${TOKEN}+=(?:${TOKEN}+|"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*")$`);
const CHARS_MAX = 255;
