import { inBackground } from '../stores/connection/in-background.ts';
import { drawTree } from './draw-tree.ts';
import { readTree } from './read-tree.ts';
import { summarize } from './summarize.ts';

// The page recording.html: shows the agents of the recording that was last dropped or selected.

const input = find('#recording', HTMLInputElement);
const summary = find('#summary', HTMLElement);
const agents = find('#agents', HTMLElement);
let latest: File | undefined;

input.addEventListener('change', () => void show(input.files?.[0]));
// Without this, the browser would navigate to the dropped file.
document.addEventListener('dragover', (event) => event.preventDefault());
document.addEventListener('drop', (event) => {
  event.preventDefault();
  inBackground(show(event.dataTransfer?.files[0]));
});

async function show(file: File | undefined): Promise<void> {
  if (file === undefined) return;
  latest = file;
  summary.textContent = `Reading ${file.name} …`;
  agents.replaceChildren();
  try {
    const tree = await readTree(file);
    // Another file was dropped in the meantime.
    if (latest !== file) return;
    summary.textContent = summarize(file.name, tree);
    agents.replaceChildren(drawTree(tree));
  } catch (error) {
    if (latest === file) summary.textContent = `${file.name} cannot be read: ${String(error)}`;
  }
}

function find<Found extends HTMLElement>(selector: string, kind: new () => Found): Found {
  const found = document.querySelector(selector);
  if (found instanceof kind) return found;
  throw new Error(`recording.html has no ${selector}`);
}
