import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordings } from '../../../../../test/support/recordings.ts';
import { assertProperty, isLong, timeout } from '../../../../../test/support/seed.ts';
import { platform, webPlatform } from './platform.ts';
import { StreamTranslator } from '../translator/stream-translator.ts';

/** Node's way and every platform's way. */
describe('the two platforms', () => {
  it('[S59] are two here, so that the comparison means something', () => {
    expect(platform).not.toBe(webPlatform);
    expect(platform.wrap(Uint8Array.of(1))).toBeInstanceOf(Buffer);
  });

  it('[S59] give the same text for any bytes', { timeout }, () => {
    // Bytes that begin, continue and break characters are more likely than others.
    const byte = fc.oneof(
      fc.nat(255),
      fc.constantFrom(0xc3, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0xed, 0xa0, 0xef, 0xbb, 0xbf),
    );
    assertProperty(
      fc.property(fc.array(byte, { maxLength: 24 }), fc.nat(8), (list, start) => {
        const bytes = Uint8Array.from(list);
        const from = Math.min(start, bytes.length);
        const ours = platform.text(platform.wrap(bytes), from, bytes.length);
        expect(ours).toBe(webPlatform.text(webPlatform.wrap(bytes), from, bytes.length));
      }),
      isLong ? 1_000_000 : 5_000,
    );
  });

  it('[S59] wrap without a copy', () => {
    const bytes = Uint8Array.of(1, 2, 3, 4).subarray(1, 3);
    for (const each of [platform, webPlatform]) {
      const wrapped = each.wrap(bytes);
      expect([...wrapped]).toEqual([2, 3]);
      bytes[0] = 9;
      expect(wrapped[0]).toBe(9);
      bytes[0] = 2;
    }
  });

  it('[S59] keep U+FEFF inside a line', () => {
    const bytes = new TextEncoder().encode('\ufeffx');
    for (const each of [platform, webPlatform]) expect(each.text(each.wrap(bytes), 0, 4)).toBe('\ufeffx');
  });

  it('[S59] translate recordings alike', () => {
    for (const recording of recordings().filter((_, index) => index % 5 === 0)) {
      const [ours, web] = [platform, webPlatform].map((each) => {
        const stream = new StreamTranslator({ platform: each });
        return [...stream.push(recording.bytes()), ...stream.end()];
      });
      expect(ours, recording.name).toEqual(web);
    }
  });
});
