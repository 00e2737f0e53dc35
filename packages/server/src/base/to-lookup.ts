import { isIP, type LookupFunction } from 'node:net';

/** A lookup that returns the addresses that were checked, whatever the name resolves to now. */
export function toLookup(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_, options, done) => {
    const [first] = found;
    if (first === undefined) done(new Error('there is no address'), '');
    else if (options.all === true) done(null, found);
    else done(null, first.address, first.family);
  };
}
