/** A manual as its page shows it, in HTML. */
export interface Manual {
  /** Its title and the text before the first section. */
  readonly head: string;
  readonly sections: readonly ManualSection[];
}

/** One heading of the second level, with its section. */
export interface ManualSection {
  /** Id of the heading. */
  readonly id: string;
  /** Text of the heading, as HTML. */
  readonly title: string;
  readonly html: string;
}

const HEADING = /^<h2 id="([^"]+)">(.*?)<\/h2>/;

/**
 * Builds a manual from the HTML of its Markdown, cut at its headings. Tables and code scroll by themselves and by keyboard, and
 * are named after their section.
 */
export function buildManual(html: string): Manual {
  const [head = '', ...parts] = html.split(/(?=<h2 )/);
  const sections = parts.map((part) => {
    const [, id = '', title = ''] = HEADING.exec(part) ?? [];
    return { id, title, html: frameCode(frameTables(part, title), title) };
  });
  return { head: head.replace('<p>', '<p class="lead">'), sections };
}

function frameTables(html: string, title: string): string {
  const name = countNames(`${title}: table`);
  return html
    .replaceAll('<table>', () => `<div class="scroll" tabindex="0" role="region" aria-label="${name()}"><table>`)
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<th>', '<th scope="col">');
}

/** Frames blocks of code. Only code in a language can be copied; samples and diagrams are only read. */
function frameCode(html: string, title: string): string {
  const name = countNames(`${title}: code`);
  return html.replace(
    /<pre><code( class="language-[^"]*")?>(.*?)\n?<\/code><\/pre>/gs,
    (_, language: string | undefined, code: string) => {
      const label = name();
      const copied = language === undefined ? '' : ` data-copy="${label}"`;
      return `<div class="code"${copied}><pre tabindex="0" role="group" aria-label="${label}"><code>${code}</code></pre></div>`;
    },
  );
}

/** Returns a function that returns a different name each time. */
function countNames(name: string): () => string {
  let count = 0;
  return () => {
    count += 1;
    return count === 1 ? name : `${name} ${count}`;
  };
}

/** Builds the section of a manual that shows the tables of a database, as HTML. */
export function buildSchemaSection(sql: string): string {
  const text = sql.trim().replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<h2 id="tables">Tables</h2>\n<pre><code class="language-sql">${text}\n</code></pre>`;
}
