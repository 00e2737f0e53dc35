import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cpuMsOf } from '../../../../../../test/support/cpu-time.ts';
import { htmlToText as htmlToTextInSteps } from './html-to-text.ts';

const BASE = 'https://site.example/dir/page';

describe('HTML', () => {
  it.each([
    ['words   with\n\tspaces', 'words with spaces'],
    ['<p>One</p><p>Two</p>', 'One\n\nTwo'],
    ['<div>a</div><div>b<br>c</div>', 'a\nb\nc'],
    ['<b>bo</b>ld <i>x</i>', 'bold x'],
    ['a <b> b</b>', 'a b'],
    ['<h2>Head</h2>text<h6>Six</h6>', '## Head\n\ntext\n\n###### Six'],
    ['<ul><li>one<li>two <b>x</b></ul>end', '- one\n- two x\n\nend'],
    ['<table><tr><td>1</td><td>2</td></tr><tr><th>3</th></tr></table>', '1 2\n3'],
    ['<pre>  a\n   b</pre>c', '  a\n   b\n\nc'.trim()],
    ['x<script>var a = "</div>";</script>y<STYLE>p{}</StYlE >z', 'xyz'],
    ['<noscript>no</noscript><svg><text>no</text></svg><template>no</template>yes', 'yes'],
    ['a<!-- <p>hidden</p> -->b<!DOCTYPE html>c<?php no ?>d', 'abcd'],
    ['1 < 2 && 3 > 2 <3', '1 < 2 && 3 > 2 <3'],
    [
      '&lt;b&gt; &amp;amp; &#65;&#x42; &nbsp;x &eacute; &unknown; &#0; &#xD800; &#99999999;',
      '<b> &amp; AB x é &unknown; \ufffd \ufffd \ufffd',
    ],
    ['<a href="/x?a=1&amp;b=2">link</a>', 'link (https://site.example/x?a=1&b=2)'],
    ["<A HREF='other'>link</A>.", 'link (https://site.example/dir/other).'],
    ['<a href=http://x.example/>link</a>', 'link (http://x.example/)'],
    ['<a href="#part">here</a> <a href="javascript:x()">no</a> <a href="x"></a>', 'here no'],
    ['<a title="a > b" href="y">q</a>', 'q (https://site.example/dir/y)'],
    ["<p data-x='\"' class=>t</p>", 't'],
    ['</p></div></ul>text</x', 'text'],
    ['text<p class="never closed', 'text'],
    ['text<!-- never closed', 'text'],
    ['text<script>never closed', 'text'],
    ['', ''],
  ])('[U63] %s', (html, text) => {
    expect(htmlToText(html, BASE)).toBe(text);
  });

  it.each([
    ['&copy 2026 &Aacute;&NotEqualTilde; a&shy;b &notit;', '© 2026 Á\u2242\u0338 ab ¬it;'],
    ['<a href="?a=1&copy=2&amp;b=3">link</a>', 'link (https://site.example/dir/page?a=1&copy=2&b=3)'],
  ])('[U196] character references of %s', (html, text) => {
    expect(htmlToText(html, BASE)).toBe(text);
  });

  it.each([
    ['a<svg/>b<math />c', 'abc'],
    ['a<script/>no</script>b<canvas/>no</canvas>c', 'abc'],
  ])('[U197] a slash at the end of a tag of %s', (html, text) => {
    expect(htmlToText(html, BASE)).toBe(text);
  });

  it('[U63] the text does not depend on where the page is cut into chunks', () => {
    const rest = '\r\n\u{1f600} &amp;&hellip;<b>x</b></pre><a href="/long?x=1&amp;y=2">link</a>';
    const text = '\n\u{1f600} &…x\n\nlink (https://site.example/long?x=1&y=2)';
    for (let chars = 4_000; chars < 4_100; chars++) {
      expect(htmlToText(`<pre>${'a'.repeat(chars)}${rest}`, BASE)).toBe(`${'a'.repeat(chars)}${text}`);
    }
  });

  it('[U64] a page of tags that do not match takes a moment', () => {
    const html = '<i>'.repeat(300_000) + '</b>'.repeat(300_000);
    const begin = performance.now();
    expect(htmlToText(html, BASE)).toBe('');
    expect(performance.now() - begin).toBeLessThan(1_500);
  });

  it('[U64] whatever it is given, it neither throws nor leaves a script in', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '/',
      '!',
      '-',
      '--',
      '"',
      "'",
      '=',
      ' ',
      'a',
      'href',
      'script',
      '&',
      ';',
      '#x',
      'p',
      'é',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        htmlToText(pieces.join(''), BASE);
        expect(htmlToText(`${pieces.join('').replaceAll(/[<"'&-]/g, '')}<script>secret</script>`, BASE)).not.toContain(
          'secret',
        );
      }),
    );
  });

  it.each([
    '<',
    '<a',
    '<a href="',
    '<!--',
    '<script>',
    '<p "',
    '</',
    '<a href=x>',
    '&',
    '<a b=c ',
    '&#x',
    '<pre>',
    '<li>',
    '<!',
    '<svg',
    '<a href=x>t</a>',
    '="',
  ])('[U64] a million of %s take a moment', (piece) => {
    const html = piece.repeat(Math.ceil(1_000_000 / piece.length));
    expect(cpuMsOf(() => htmlToText(html, BASE)).cpuMs).toBeLessThan(1_500);
  });
});

function htmlToText(html: string, base: string): string {
  const work = htmlToTextInSteps(html, base);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
