import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setUp } from './setup.mjs';
import { toAnchor } from './support/markdown.mjs';
import { repositoryRoot } from './support/root.mjs';

// `npm run docs` makes a small site of docs/ in .cache/site: one page each, the same as Markdown, and llms.txt for programs.

await setUp({ build: false });
const { Marked } = await import('marked');

const source = join(repositoryRoot, 'docs');
const site = join(repositoryRoot, '.cache', 'site');
const pages = readPages();
rmSync(site, { recursive: true, force: true });
for (const folder of ['reference', 'decisions']) mkdirSync(join(site, folder), { recursive: true });
const marked = createMarked();
for (const page of pages) {
  writeFileSync(join(site, page.path), page.text);
  writeFileSync(join(site, toHtmlPath(page.path)), toHtml(page));
}
for (const name of readdirSync(source)) if (/\.(svg|png)$/.test(name)) cpSync(join(source, name), join(site, name));
writeFileSync(join(site, 'llms.txt'), toLlmsTxt());
console.log(`${pages.length} pages in .cache/site; open index.html`);

function readPages() {
  const names = ['', 'reference/', 'decisions/'].flatMap((folder) =>
    readdirSync(join(source, folder))
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => `${folder}${name}`),
  );
  return names.map((path) => {
    const text = readFileSync(join(source, path), 'utf8');
    return { path, text, title: /^# +(.+)$/m.exec(text)?.[1] ?? path };
  });
}

function createMarked() {
  return new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const text = tokens.map(({ raw }) => raw).join('');
        return `<h${depth} id="${toAnchor(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        // Files outside docs/ have no page on the site.
        return isOutside(href) ? text : `<a href="${toSiteLink(href)}">${text}</a>`;
      },
    },
  });
}

function isOutside(href) {
  return href.startsWith('../') || href.endsWith('/');
}

function toSiteLink(href) {
  if (/^[a-z]+:/i.test(href) || href.startsWith('#')) return href;
  const [path, heading] = href.split('#');
  return `${toHtmlPath(path)}${heading === undefined ? '' : `#${heading}`}`;
}

function toHtmlPath(path) {
  return path.replace(/(^|\/)README\.md$/, '$1index.html').replace(/\.md$/, '.html');
}

function toHtml({ path, title, text }) {
  const up = path.includes('/') ? '../' : '';
  const links = pages
    .filter((page) => !page.path.includes('/'))
    .map(
      (page) =>
        `<a href="${up}${toHtmlPath(page.path)}"${page.path === path ? ' aria-current="page"' : ''}>${page.title}</a>`,
    );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · Fleetloom</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif }
  body { display: grid; grid-template-columns: 13rem minmax(0, 46rem); gap: 3rem; max-width: 64rem; margin: 2rem auto; padding: 0 1rem }
  nav { display: flex; flex-direction: column; gap: .25rem; position: sticky; top: 2rem; align-self: start }
  nav a { color: inherit; text-decoration: none } nav a[aria-current] { font-weight: 700 }
  pre { overflow-x: auto; padding: .75rem 1rem; border-radius: .5rem; background: color-mix(in srgb, currentColor 7%, transparent) }
  code { font: .875em ui-monospace, monospace }
  table { border-collapse: collapse; display: block; overflow-x: auto } td, th { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent) }
  @media (max-width: 48rem) { body { display: block } nav { position: static; flex-flow: row wrap; gap: .75rem } }
</style>
<nav>${links.join('\n')}</nav>
<main>${marked.parse(text, { async: false })}</main>
</html>
`;
}

function toLlmsTxt() {
  const lines = pages.map(({ path, title }) => `- [${title}](${path})`);
  return `# Fleetloom\n\n> Runs, streams, steers and replays fleets of agents, self-hosted, with the official Anthropic SDK.\n\n${lines.join('\n')}\n`;
}
