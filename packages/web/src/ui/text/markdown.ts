import DOMPurify from 'dompurify';
import { Marked } from 'marked';
import { cleanText } from '@fleetloom/protocol/text';

/**
 * Renders an agent's Markdown into an element. The text is untrusted: agents repeat what they read. HTML in it stays text,
 * images are not loaded, and links lead only to web and mail addresses. The sanitizer is a second barrier, the page's content
 * security policy, which requires TrustedHTML, a third.
 */
export function setSafeHtml(element: Element, text: string): void {
  const html = marked.parse(cleanText(text), { async: false });
  // With RETURN_TRUSTED_TYPE this is TrustedHTML in browsers that require it.
  element.innerHTML = DOMPurify.sanitize(html, sanitizing);
}

/** The same HTML as a string, for an exported file. */
export function toSafeHtml(text: string): string {
  const html = marked.parse(cleanText(text), { async: false });
  return DOMPurify.sanitize(html, { ...sanitizing, RETURN_TRUSTED_TYPE: false });
}

/** Cleans the parsed tree too, because entities such as `&#x202e;` become characters only when HTML is parsed. */
if (DOMPurify.isSupported) {
  DOMPurify.addHook('uponSanitizeElement', (node) => {
    if (node.nodeType === Node.TEXT_NODE && node.nodeValue !== null) node.nodeValue = cleanText(node.nodeValue);
  });
  DOMPurify.addHook('uponSanitizeAttribute', (_node, data) => {
    data.attrValue = cleanText(data.attrValue);
  });
}

const marked = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    image: ({ href, text }) => `<span>[picture: ${escapeHtml(text)} ${escapeHtml(href)}]</span>`,
    link({ href, tokens }) {
      const inner = this.parser.parseInline(tokens);
      if (!/^(?:https?:|mailto:)/i.test(href)) return `<span>${inner} (${escapeHtml(href)})</span>`;
      const address = escapeHtml(href);
      return `<a href="${address}" title="${address}" target="_blank" rel="noopener noreferrer">${inner}</a>`;
    },
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  },
});

const sanitizing = {
  ALLOWED_TAGS:
    'p br hr h1 h2 h3 h4 h5 h6 strong em del code pre blockquote span ul ol li table thead tbody tr th td a'.split(' '),
  ALLOWED_ATTR: ['href', 'title', 'target', 'rel', 'start', 'align'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_TRUSTED_TYPE: true,
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
