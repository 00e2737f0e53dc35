import { encodeEvent } from '@fleetloom/protocol/sse';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { assertProperty, isLong } from '../../../../../../test/support/seed.ts';
import { encodeWireEvent } from './event-encoder.ts';

it('[H39] an event has the same bytes as from the encoder that looks for line breaks in its data', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('\r\n', '\u2028', '\ud800', ''));
  const event = fc.record({ type: fc.constantFrom('ping', 'agent.message'), id: fc.constant('sevt_1'), text });
  const property = fc.property(event, fc.option(fc.nat(), { nil: undefined }), (given, retryMs) => {
    const { type, id } = given;
    const retry = retryMs === undefined ? {} : { retry: retryMs };
    const expected = encodeEvent({ event: type, id, ...retry, data: JSON.stringify(given) });
    expect(Buffer.from(encodeWireEvent(given, retryMs)).toString()).toBe(expected);
  });
  assertProperty(property, isLong ? 100_000 : 200);
});
