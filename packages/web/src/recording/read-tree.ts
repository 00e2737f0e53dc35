import { createTranslateTransform } from '@fleetloom/protocol/stream-json';
import { type AgentTree, createTree, foldEvent } from '@fleetloom/protocol/stream-json/tree';

/** Reads the tree of agents from a recording as a stream: the file may be larger than the longest string. */
export async function readTree(recording: Blob): Promise<AgentTree> {
  const tree = createTree();
  const fold = new WritableStream({ write: (event) => foldEvent(tree, event) });
  await recording.stream().pipeThrough(createTranslateTransform()).pipeTo(fold);
  return tree;
}
