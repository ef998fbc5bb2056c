import { beforeAll, describe, expect, it } from 'vitest';
import { type Fonts, openFonts } from '../../src/pictures/fonts.ts';
import { drawLine, type Line, readText, setText } from '../../src/pictures/typesetting.ts';
import { TITLES } from './titles.ts';

const STYLE = { size: 56, weight: 700 } as const;

let fonts: Fonts;
beforeAll(async () => {
  fonts = await openFonts();
});

function set(text: string, frame = { width: 1072, lines: 2 }) {
  return setText(readText(text, fonts), STYLE, frame);
}

function setLine(text: string): Line {
  const [line] = set(text, { width: 9999, lines: 1 });
  if (!line) throw new Error('There is no line.');
  return line;
}

/** Reads the characters of a line from left to right. */
function read({ glyphs }: Line): string {
  return glyphs.map(({ text }) => text).join('');
}

/** Outlines of a line in the order of their places, so that glyphs drawn in another order compare equal. */
function draw(line: Line): string[] {
  return drawLine(line).path.split('Z').sort();
}

describe('letters', () => {
  it.each(Object.entries(TITLES))('of %s all have a font and a form', async (_, title) => {
    const { characters } = readText(title, fonts);
    expect(characters.map(({ text }) => text).join('')).toBe(title.normalize('NFC'));
    const { glyphs } = setLine(title);
    expect(glyphs.filter(({ id }) => id === 0)).toEqual([]);
    expect(drawLine({ glyphs, width: 0 }).path.length).toBeGreaterThan(500);
  });
});

describe('lines', () => {
  it('break between words, and cut the last one with an ellipsis', async () => {
    const lines = set('Every price of every exchange in the world, and then some more of them that do not fit');
    expect(lines.map(read)).toEqual(['Every price of every exchange in the', 'world, and then some more of them t…']);
  });

  it('break a word that is longer than one', async () => {
    const lines = set('x'.repeat(200));
    expect(lines).toHaveLength(2);
    for (const { width } of lines) expect(width).toBeGreaterThan(1000);
    expect(read(lines[1] as Line).endsWith('…')).toBe(true);
  });

  it.each(Object.values(TITLES))('of any script fit, however much there is: %s', async (title) => {
    const lines = set(`${title} `.repeat(20));
    expect(lines).toHaveLength(2);
    for (const { width } of lines) expect(width).toBeLessThanOrEqual(1072);
    expect(lines.at(-1)?.glyphs.some(({ text }) => text === '…')).toBe(true);
  });
});

describe('what the font lacks', () => {
  it.each([
    ['\u{1F680} fly \u{1F469}\u200D\u{1F680} now', 'fly now'],
    ['\u{1F680}\u{1F680}', ''],
    ['1\uFE0F\u20E3 first', 'first'],
    ['a \u{13000} \u{12000} b', 'a b'],
    ['\u00A9\uFE0F\u00A02026\u0000\n', '\u00A9 2026'],
  ])('is left out, and white space closed up: %s', async (text, rest) => {
    const { characters } = readText(text, fonts);
    expect(characters.map((character) => character.text).join('')).toBe(rest);
  });

  it('keeps letters whose marks it lacks', async () => {
    expect(read(setLine('x\u1ABF y'))).toBe('x y');
  });

  it('leaves no stack of marks', async () => {
    const { above } = drawLine(setLine(`a${'\u0308'.repeat(30)}`));
    expect(above).toBeGreaterThan(56 * 0.8);
    expect(above).toBeLessThan(56 * 1.5);
  });
});

describe('letters of a title', () => {
  it.each(Object.values(TITLES))('are bolder: %s', async (title) => {
    const text = readText(title, fonts);
    const [bold, regular] = ([700, 400] as const).map((weight) =>
      setText(text, { size: 56, weight }, { width: 9999, lines: 1 }),
    );
    expect(draw(bold?.[0] as Line)).not.toEqual(draw(regular?.[0] as Line));
  });
});
