import { describe, expect, it } from 'vitest';
import { encodeComment, encodeEvent } from './index.ts';

describe('encodeEvent', () => {
  it('[E1] writes name, id, retry and data, each with one space, and ends with a blank line', () => {
    expect(encodeEvent({ event: 'agent.message', id: '7', retry: 1500, data: '{"a":1}' })).toBe(
      'event: agent.message\nid: 7\nretry: 1500\ndata: {"a":1}\n\n',
    );
    expect(encodeEvent({ data: '' })).toBe('data: \n\n');
    expect(encodeEvent({ data: 'x', id: '' })).toBe('id: \ndata: x\n\n');
  });

  it('[E1] splits data at LF, CR and CRLF and at nothing else', () => {
    expect(encodeEvent({ data: 'a\nb\r\nc\rd\n' })).toBe('data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n');
    expect(encodeEvent({ data: 'a\u2028b\u0085c' })).toBe('data: a\u2028b\u0085c\n\n');
  });

  it('[E2] refuses what would smuggle in another field or get lost on the way', () => {
    for (const bad of ['a\nb', 'a\rb', 'a\0b']) {
      expect(() => encodeEvent({ data: '', id: bad })).toThrow(TypeError);
      expect(() => encodeEvent({ data: '', event: bad })).toThrow(/event must be a string without newline and NUL/);
    }
    for (const retry of [-1, 1.5, Number.NaN, Infinity]) {
      expect(() => encodeEvent({ data: '', retry })).toThrow(/whole number of milliseconds/);
    }
    // A cast, because callers in JavaScript do this.
    expect(() => encodeEvent({ data: { a: 1 } as unknown as string })).toThrow(/JSON\.stringify/);
  });

  it('[E3] writes a comment that readers hand on at once, on as many lines as it has', () => {
    expect(encodeComment('ping')).toBe(': ping\n\n');
    expect(encodeComment('a\r\nevent: x')).toBe(': a\n: event: x\n\n');
  });
});
