import { openEvents, ResponseError } from '@fleetloom/client';
import { createTranslateTransform } from '@fleetloom/protocol/stream-json';
import { foldStream } from './fold-stream.js';

// A web page of a user: packed.test.ts copies it out of the repository and checks it there as a bundler's user would.

const { body } = await fetch('/agents.ndjson');
if (body !== null) {
  const [first, second] = body.tee();
  console.log(await foldStream(first));
  for await (const event of second.pipeThrough(createTranslateTransform())) console.log(event.thread);
}

try {
  for await (const item of openEvents('/events')) console.log(item.type);
} catch (error) {
  if (error instanceof ResponseError) console.log(error.status);
}
