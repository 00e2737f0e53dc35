import { createTreeRemover } from './remove-tree.ts';

// A process that discards a directory and is killed in the middle: `node <this> <parent> <session>`.
const [, , parent, sessionId] = process.argv as unknown as [string, string, string, string];
const remover = createTreeRemover({ onProblem: (problem) => console.error(problem) });
await remover.discard(`${parent}/${sessionId}`, { parent, sessionId });
console.log('discarded');
