import { describe, expect, it } from 'vitest';
import { buildManual } from '../../src/views/pages/manual.ts';

const HTML = `<h1 id="title">Title</h1>
<p>What it is.</p>
<h2 id="one">One &amp; all</h2>
<table><thead><tr><th>a</th></tr></thead></table>
<pre><code>a  $&amp;
b
</code></pre>
<pre><code class="language-sh">npm start
</code></pre>
<h2 id="two">Two</h2>
<p>Words.</p>`;

describe('a manual', () => {
  const { head, sections } = buildManual(HTML);

  it('is cut at its headings', () => {
    expect(head).toContain('<p class="lead">What it is.</p>');
    expect(sections.map(({ id, title }) => [id, title])).toEqual([
      ['one', 'One &amp; all'],
      ['two', 'Two'],
    ]);
    expect(sections[1]?.html).toBe('<h2 id="two">Two</h2>\n<p>Words.</p>');
  });

  it('has tables and code that scroll by themselves, each with a name of its own', () => {
    const html = sections[0]?.html;
    expect(html).toContain('<div class="scroll" tabindex="0" role="region" aria-label="One &amp; all: table"><table>');
    expect(html).toContain('<th scope="col">a</th></tr></thead></table></div>');
    expect(html).toContain('aria-label="One &amp; all: code"><code>a  $&amp;\nb</code></pre></div>');
  });

  it('offers for copying what is written in a language', () => {
    expect([...(sections[0]?.html.matchAll(/data-copy="([^"]+)"/g) ?? [])].map(([, label]) => label)).toEqual([
      'One &amp; all: code 2',
    ]);
  });
});
