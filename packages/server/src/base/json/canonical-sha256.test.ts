import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { canonicalSha256 } from './canonical-sha256.ts';
import type { Json } from './json.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
/** As it came over a wire: what a literal cannot say, such as a field that is called __proto__, is there too. */
const parse = (text: string) => JSON.parse(text) as Json;

it('[R274] the canonical form has no spaces, sorted keys at every depth, and values as JSON.stringify writes them', () => {
  const forms: readonly (readonly [text: string, canonical: string])[] = [
    ['{ "b": [ 1, { "z": null, "a": true } ], "a": "x" }', '{"a":"x","b":[1,{"a":true,"z":null}]}'],
    ['{"a":"x","b":[1,{"a":true,"z":null}]}', '{"a":"x","b":[1,{"a":true,"z":null}]}'],
    // Names that are numbers are texts too: "10" stands before "2".
    ['{"2":0,"10":0,"é":0,"z":0,"Z":0,"":0}', '{"":0,"10":0,"2":0,"Z":0,"z":0,"é":0}'],
    ['{"\\u20ac":1,"\\ud83d\\ude00":2,"\\ufb33":3}', '{"€":1,"😀":2,"\ufb33":3}'],
    ['{"__proto__":{"b":1,"a":2}}', '{"__proto__":{"a":2,"b":1}}'],
    ['[1.0, -0, 1e21, 0.000001, 1E400]', '[1,0,1e+21,0.000001,null]'],
    ['"\\u0000\\u000a\\/\\ud800"', '"\\u0000\\n/\\ud800"'],
    ['[]', '[]'],
    ['{}', '{}'],
    ['null', 'null'],
  ];
  for (const [text, canonical] of forms) expect(canonicalSha256(parse(text)), text).toBe(sha256(canonical));
});

it('[R274] hashes of known inputs do not change', () => {
  expect(canonicalSha256({ command: 'ls' })).toBe('4cf29611a66934862f29acfcc817e30b905c1ab73d5e65831413eb6b454d49db');
  expect(canonicalSha256({})).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
});
