import { describe, expect, it } from 'vitest';
import { formatBytes } from '../../src/cli/terminal/format.ts';
import { openPage } from '../../src/cli/terminal/page.ts';
import { getPrintable } from '../../src/cli/terminal/printable.ts';
import { openProgress } from '../../src/cli/terminal/progress.ts';
import { formatJson } from '../../src/model/json-text.ts';
import { openOutput } from './running.ts';

describe('printable text', () => {
  it('is one line without anything a terminal would obey', () => {
    expect(getPrintable('a\tb\r\nc')).toBe('a b c');
    expect(getPrintable('\u001b[31mred\u009b0m')).toBe('\\u{1b}[31mred\\u{9b}0m');
    expect(getPrintable('\u202eabc\u200b\u{E0041}')).toBe('\\u{202e}abc\\u{200b}\\u{e0041}');
    expect(getPrintable('naïve 価格 🎈')).toBe('naïve 価格 🎈');
    expect(getPrintable('👨\u200d👩 می\u200cخواهم')).toBe('👨\u200d👩 می\u200cخواهم');
  });

  it('is JSON that parses to the same', () => {
    const value = { 'k\u009b': ['\u001b[2J', '\u202e', '\u{E0041}', 'line\nend', '\u2028'] };
    for (const indent of [undefined, 2]) {
      const json = formatJson(value, indent);
      expect(json.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(JSON.parse(json)).toEqual(value);
    }
  });
});

describe('sizes', () => {
  it('are in round units', () => {
    expect([0, 999, 1000, 6_111_232, 2_500_000_000].map(formatBytes)).toEqual([
      '0 B',
      '999 B',
      '1.0 kB',
      '6.1 MB',
      '2.5 GB',
    ]);
  });
});

describe('a page', () => {
  const columns = [{ heading: 'name' }, { heading: 'count', align: 'right' as const }, { heading: 'text', cut: true }];
  const rows = [
    ['a', 1, 'some words that do not fit'],
    [{ text: 'longer', style: 'red' as const }, 20, 'x\ty'],
  ];

  it('is tab-separated and whole for a pipe', () => {
    const page = openPage(openOutput());
    page.title('Title');
    page.table(columns, rows);
    page.facts([['label', 'value']]);
    expect(page.getText()).toBe('Title\na\t1\tsome words that do not fit\nlonger\t20\tx y\nlabel\tvalue\n');
  });

  it('is aligned and fits the terminal', () => {
    const page = openPage(openOutput(32));
    page.table(columns, rows);
    const lines = page
      .getText()
      .replace(new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g'), '')
      .split('\n');
    expect(lines).toEqual(['name    count  text', 'a           1  some words that …', 'longer     20  x y', '']);
  });
});

describe('progress', () => {
  const makeProgress = (columns?: number) => {
    const output = openOutput(columns);
    const progress = openProgress(output, 'Pulling', 'items');
    progress.update(200, 1000);
    progress.note('Something\u001b[2J else');
    progress.update(300, 1000);
    progress.stop();
    return output.getText();
  };

  it('is plain lines without a terminal, with notes between them', () => {
    expect([
      ...new Set(
        makeProgress()
          .replaceAll(/, \S+ left/g, '')
          .split('\n'),
      ),
    ]).toEqual(['Pulling: 200 of 1000 items', 'Something\\u{1b}[2J else', 'Pulling: 300 of 1000 items', '']);
  });

  it('says no time where none can be told', () => {
    const output = openOutput();
    const progress = openProgress(output, 'Pulling', 'items');
    for (const done of [1000, 1000, 1000]) progress.update(done, 1000);
    progress.stop();
    expect(output.getText()).toMatch(/^(?:Pulling: 1000 of 1000 items(?:, \d+s left)?\n)+$/);
  });

  it('is a bar with a count on a terminal, with notes above it', () => {
    expect(makeProgress(100)).toMatch(
      /Pulling .* 200 of 1000 items.*Something.* else\n.*Pulling .* 300 of 1000 items/s,
    );
  });
});
