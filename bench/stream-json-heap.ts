import { StreamTranslator } from '@fleetloom/protocol/stream-json';
import { heapBytes, type Measured } from './harness.ts';
import { interleavedAgents, toBytes } from './streams.ts';

/** Memory of a translator after 6,000 blocks of 25 agents. */
export function heapAfterAgents(): Measured {
  const bytes = toBytes(interleavedAgents({ messages: 20, mode: 'one-block' }));
  return measure((stream) => {
    for (let at = 0; at < bytes.length; at += 65_536) stream.push(bytes.subarray(at, at + 65_536));
  });
}

/** Memory of a translator after a million lines of 25 agents and 10,000 messages: at most what the limits allow. */
export function heapAfterManyLines(): Measured {
  return measure((stream) => {
    let text = '';
    for (let line = 0; line < 1_000_000; line++) {
      text += lineText(line);
      if (text.length < 65_536) continue;
      stream.push(Buffer.from(text));
      text = '';
    }
    stream.push(Buffer.from(text));
  });
}

function measure(feed: (stream: StreamTranslator) => void): Measured {
  // Runs once before, so that compiled code and static tables are not measured.
  new StreamTranslator().push(Buffer.from(lineText(0)));
  const before = heapBytes();
  const stream = new StreamTranslator();
  feed(stream);
  const value = (heapBytes() - before) / 2 ** 20;
  // Used afterwards, so that it is not collected before the measurement.
  stream.end();
  return { value, unit: 'MB', floor: null, ratio: null, goal: '<= 32 MB', ok: value <= 32 };
}

/** Concatenated: stringifying a million lines would take longer than reading them. */
function lineText(line: number): string {
  const agent = line % 25;
  const message = `msg_${agent}_${Math.floor(line / 2_500)}`;
  const parent = agent === 0 ? 'null' : `"toolu_agent_${agent}"`;
  const block =
    line % 3 === 0
      ? `{"type":"tool_use","id":"toolu_${line}","name":"Bash","input":{"command":"ls ${line}"}}`
      : `{"type":"text","text":"Line ${line} of a long day in the weaving mill, and there is no end in sight."}`;
  const content = `"model":"claude-opus-4-8","id":"${message}","role":"assistant","content":[${block}]`;
  return `{"type":"assistant","message":{${content}},"parent_tool_use_id":${parent},"uuid":"${uuidOf(line)}"}\n`;
}

function uuidOf(line: number): string {
  return `00000000-0000-4000-8000-${line.toString(16).padStart(12, '0')}`;
}
