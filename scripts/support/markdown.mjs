/** The text without code, line by line, so that numbers of lines stay what they are. */
function withoutCode(text) {
  let isCode = false;
  return text.split('\n').map((line) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) isCode = !isCode;
    return isFence || isCode || /^ {4}/.test(line)
      ? ''
      : line.replaceAll(/`[^`]*`/g, (code) => ' '.repeat(code.length));
  });
}

/** Links and images, with their line numbers. */
export function listLinks(text) {
  return withoutCode(text).flatMap((line, index) =>
    [...line.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target]) => ({ target, line: index + 1 })),
  );
}

/** The anchors of a page's headings, as code hosts generate them. */
export function listHeadings(text) {
  let isCode = false;
  return text.split('\n').flatMap((line) => {
    if (/^\s*```/.test(line)) isCode = !isCode;
    const title = isCode ? undefined : /^#{1,6} +(.+?)\s*$/.exec(line)?.[1];
    return title === undefined ? [] : [toAnchor(title)];
  });
}

export function toAnchor(title) {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
