/** Lists the tags of HTML or XML in their order, each with the names of its attributes: all but what is text in it, and where a long name may break. */
export function listTags(markup: string): string[] {
  const tags: string[] = [];
  const outside = markup.replace(/(<(script|style)\b[^>]*>).*?<\/\2>/gs, '$1').replaceAll('<wbr>', '');
  for (const [, name = '', attributes = ''] of outside.matchAll(
    /<(\/?[a-zA-Z!?][^\s/>]*)((?:"[^"]*"|'[^']*'|[^>"'])*)>/g,
  )) {
    const names = [...attributes.matchAll(/([^\s"'=<>/]+)(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))?/g)].map(
      ([, own]) => own,
    );
    tags.push(`${name} ${names.sort().join(' ')}`.trim());
  }
  return tags;
}

/** Gives the text between tags, a piece each, as it is written. */
export function listTexts(markup: string): string[] {
  return markup
    .replace(/<(script|style)\b[^>]*>.*?<\/\1>/gs, '')
    .split(/<(?:"[^"]*"|'[^']*'|[^>"'])*>/)
    .filter((text) => text.trim() !== '');
}

/**
 * Gives what makes Markdown more than text, line by line: what a line begins with, and markup within it that is neither
 * escaped nor inside code. Lines of one quotation count once, since texts are of different length.
 */
export function listMarks(markdown: string): string[] {
  const withoutBlocks = markdown.replace(/^(`{3,}|~{3,})[^\n]*\n.*?^\1$/gms, 'CODE');
  const marks = withoutBlocks.split('\n').map((line) => {
    const plain = line.replace(/(?<!\\)(`+)(?!`).*?(?<!`)\1(?!`)/g, 'SPAN').replace(/\\[\\`*_[\]<>#|~&$@:.+=-]/g, '');
    const start = /^\s*(?:#{1,6} |[-*+] |> ?|\d+[.)] |\|)?/.exec(plain)?.[0] ?? '';
    return `${start}${(plain.slice(start.length).match(/[`*_[\]<>|~]|\]\(|https?:\/\//g) ?? []).join('')}`;
  });
  return marks.filter((mark, index) => mark !== '' && !(mark.startsWith('>') && marks[index - 1] === mark));
}

/** Lists every string of a JSON document, names of members included, with the way to it. */
export function listStrings(json: unknown, way: readonly string[] = []): { way: string; text: string }[] {
  if (typeof json === 'string') return [{ way: way.join('.'), text: json }];
  if (typeof json !== 'object' || json === null) return [];
  return Object.entries(json).flatMap(([name, member]) => [
    ...(Array.isArray(json) ? [] : [{ way: [...way, '(name)'].join('.'), text: name }]),
    ...listStrings(member, [...way, Array.isArray(json) ? '*' : name]),
  ]);
}
