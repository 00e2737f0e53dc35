import { createTranslateTransform } from '@fleetloom/protocol/stream-json';
import { type AgentTree, createTree, foldEvent } from '@fleetloom/protocol/stream-json/tree';

// Runs in a browser: in a page, and in a worker.

/** Follows a stream as a page does: fetch, translate, fold. */
export async function translateRecording(url: string): Promise<AgentTree> {
  const { body } = await fetch(url);
  if (body === null) throw new Error(`${url} has no body`);
  const tree = createTree();
  const fold = new WritableStream({ write: (event) => foldEvent(tree, event) });
  await body.pipeThrough(createTranslateTransform()).pipeTo(fold);
  return tree;
}

// In a worker: receives the URL of a recording, and posts its tree.
if (typeof document === 'undefined') {
  addEventListener('message', ({ data }: MessageEvent<string>) => void translateRecording(data).then(postMessage));
}
