import { createTranslateTransform } from '@fleetloom/protocol/stream-json';
import { type AgentTree, createTree, foldEvent } from '@fleetloom/protocol/stream-json/tree';

/** The tree of all agents of a recording, read piece by piece: it may be larger than what fits into a string. */
export async function readTree(recording: Blob): Promise<AgentTree> {
  const tree = createTree();
  const fold = new WritableStream({ write: (event) => foldEvent(tree, event) });
  await recording.stream().pipeThrough(createTranslateTransform()).pipeTo(fold);
  return tree;
}
