import { beforeAll, describe, expect, it } from 'vitest';
import { type Fonts, openFonts } from '../../src/pictures/fonts.ts';
import { drawLine, type Line, orderFamilies, readText, setText } from '../../src/pictures/typesetting.ts';
import { TITLES } from './titles.ts';

const STYLE = { size: 56, weight: 700 } as const;

let fonts: Fonts;
beforeAll(async () => {
  fonts = await openFonts();
});

async function set(text: string, frame = { width: 1072, lines: 2 }) {
  return setText(await readText(text, fonts, orderFamilies(text, fonts)), STYLE, frame);
}

async function setLine(text: string): Promise<Line> {
  const [line] = await set(text, { width: 9999, lines: 1 });
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
    const { characters } = await readText(title, fonts, orderFamilies(title, fonts));
    expect(characters.map(({ text }) => text).join('')).toBe(title.normalize('NFC'));
    const { glyphs } = await setLine(title);
    expect(glyphs.filter(({ id }) => id === 0)).toEqual([]);
    expect(drawLine({ glyphs, width: 0 }).path.length).toBeGreaterThan(500);
  });

  it('of Arabic are joined, as the ready-made forms are', async () => {
    // Seen initial, lam-alef final, meem isolated; separate letters for comparison.
    expect(draw(await setLine('سلام'))).toEqual(draw(await setLine('\uFEB3\uFEFC\uFEE1')));
    expect(draw(await setLine('سلام'))).not.toEqual(draw(await setLine('س\u200Cل\u200Cا\u200Cم')));
  });

  it('of Devanagari change places and melt together', async () => {
    // The sign for i is written after its consonant and drawn before it; ka + virama + ssa are one form.
    const [ki, i, ksha] = [await setLine('कि'), await setLine('ि'), await setLine('क्ष')];
    expect(ki.glyphs).toHaveLength(2);
    expect(ki.glyphs[1]?.id).toBe((await setLine('क')).glyphs[0]?.id);
    expect(i.glyphs).toHaveLength(1);
    expect(ksha.glyphs).toHaveLength(1);
  });

  it('of Thai carry their marks above each other', async () => {
    const alone = drawLine(await setLine('ท'));
    const [vowel, both] = [drawLine(await setLine('ที')), drawLine(await setLine('ที่'))];
    expect(vowel.above).toBeGreaterThan(alone.above);
    expect(both.above).toBeGreaterThan(vowel.above);
    expect((await setLine('ที่')).width).toBeCloseTo((await setLine('ท')).width);
  });

  it('are those of the language where Chinese and Japanese draw them differently', async () => {
    const [chinese, japanese] = [await setLine('直'), await setLine('直し')];
    expect(drawLine(japanese).path.startsWith(drawLine(chinese).path.slice(0, 40))).toBe(false);
    expect(read(japanese)).toBe('直し');
  });
});

it.each(['ইতিহাস।', 'इतिहास।', '全球……'])(
  'marks that scripts share are in the font of the letters before: %s',
  async (text) => {
    const { characters } = await readText(text, fonts, orderFamilies(text, fonts));
    expect(new Set(characters.map(({ file }) => file.family)).size).toBe(1);
  },
);

describe('direction', () => {
  it.each([
    ['שלום', 'םולש'],
    ['שלום abc 123 עולם', 'םלוע abc 123 םולש'],
    ['Weather של ישראל', 'לארשי לש Weather'],
    ['Prices in שקל today', 'Prices in לקש today'],
    ['מחירים (USDC) 0.01', '0.01 (USDC) םיריחמ'],
  ])('%s is seen as it is read', async (text, seen) => {
    expect(read(await setLine(text)).replaceAll(/[()]/g, '|')).toBe(seen.replaceAll(/[()]/g, '|'));
  });

  it('turns brackets round', async () => {
    const [open, close] = [await setLine('('), await setLine(')')];
    const { glyphs } = await setLine('(א)');
    expect(glyphs[0]?.id).toBe(open.glyphs[0]?.id);
    expect(glyphs[2]?.id).toBe(close.glyphs[0]?.id);
  });

  it('cannot be changed from outside', async () => {
    expect(read(await setLine('a\u202Ebc\u2067d\u200Fe'))).toBe('abcde');
    expect(draw(await setLine('שלום \u200E12\u200E, 34'))).toEqual(draw(await setLine('שלום 12, 34')));
  });

  it('is that of most words', async () => {
    const isRightToLeft = async (text: string) => (await readText(text, fonts, orderFamilies(text, fonts))).rightToLeft;
    expect(await isRightToLeft('API לחיזוי מזג אוויר')).toBe(true);
    expect(await isRightToLeft('שלום says the weather service')).toBe(false);
    expect(await isRightToLeft('أسعار Bitcoin و Ethereum كل 30 ثانية (USD)')).toBe(true);
    expect(await isRightToLeft('أسعار Bitcoin')).toBe(true);
    expect(await isRightToLeft('Bitcoin أسعار')).toBe(false);
    expect(await isRightToLeft('123')).toBe(false);
  });
});

const words = new Intl.Segmenter('th', { granularity: 'word' });

describe('lines', () => {
  it('break between words, and cut the last one with an ellipsis', async () => {
    const lines = await set('Every price of every exchange in the world, and then some more of them that do not fit');
    expect(lines.map(read)).toEqual(['Every price of every exchange in the', 'world, and then some more of them t…']);
  });

  it('break a word that is longer than one', async () => {
    const lines = await set('x'.repeat(200));
    expect(lines).toHaveLength(2);
    for (const { width } of lines) expect(width).toBeGreaterThan(1000);
    expect(read(lines[1] as Line).endsWith('…')).toBe(true);
  });

  it.each([
    ['Chinese', '全球股票、外汇和加密货币的实时行情与历史数据接口，按次付费。无需注册账号，也不需要密钥', 390],
    [
      'Japanese',
      '世界中の都市の天気予報と過去の気象データを、一回ごとの支払いで提供するサービスです。登録は不要です',
      390,
    ],
    ['Thai', 'บริการพยากรณ์อากาศและข้อมูลสภาพภูมิอากาศย้อนหลังสำหรับทุกเมืองทั่วโลกแบบจ่ายต่อครั้ง', 300],
  ])('of %s break without spaces, and begin with no mark that ends a sentence', async (_, text, least) => {
    const lines = await set(text, { width: 500, lines: 9 });
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) {
      expect(line.width).toBeLessThanOrEqual(500);
      expect(read(line)).not.toMatch(/^[、。，．\p{M}]/u);
    }
    for (const line of lines.slice(0, -1)) expect(line.width).toBeGreaterThan(least);
  });

  it.each([420, 480, 540, 600])('of Thai end where a word does, %d pixels wide', async (width) => {
    const title = 'พยากรณ์อากาศสำหรับทุกเมืองทั่วโลกแบบรายชั่วโมง';
    const lines = (await set(title, { width, lines: 9 })).map(read);
    const wordStarts = Array.from(words.segment(title), ({ segment }) => segment[0]);
    const wordEnds = Array.from(words.segment(title), ({ segment }) => segment.replace(/\p{M}+$/u, '').at(-1));
    const pairs = wordStarts.map((start, at) => `${wordEnds[at - 1]}|${start}`);
    expect(lines.length).toBeGreaterThan(1);
    for (const [at, line] of lines.slice(1).entries()) expect(pairs).toContain(`${lines[at]?.at(-1)}|${line[0]}`);
  });

  it.each(Object.values(TITLES))('of any script fit, however much there is: %s', async (title) => {
    const lines = await set(`${title} `.repeat(20));
    expect(lines).toHaveLength(2);
    for (const { width } of lines) expect(width).toBeLessThanOrEqual(1072);
    expect(lines.at(-1)?.glyphs.some(({ text }) => text === '…')).toBe(true);
  });
});

describe('what no font has', () => {
  it.each([
    ['\u{1F680} fly \u{1F469}\u200D\u{1F680} now', 'fly now'],
    ['\u{1F680}\u{1F680}', ''],
    ['1\uFE0F\u20E3 first', 'first'],
    ['a \u{13000} \u{12000} b', 'a b'],
    ['\u00A9\uFE0F\u00A02026\u0000\n', '\u00A9 2026'],
  ])('is left out, and white space closed up: %s', async (text, rest) => {
    const { characters } = await readText(text, fonts, orderFamilies(text, fonts));
    expect(characters.map((character) => character.text).join('')).toBe(rest);
  });

  it('keeps letters whose marks no font has', async () => {
    expect(read(await setLine('x\u1ABF y'))).toBe('x y');
  });

  it('leaves no stack of marks', async () => {
    const { above } = drawLine(await setLine(`a${'\u0308'.repeat(30)}`));
    expect(above).toBeGreaterThan(56 * 0.8);
    expect(above).toBeLessThan(56 * 1.5);
  });
});

describe('fonts', () => {
  it('are read once', async () => {
    const find = () => fonts.find([0x6771], ['japanese']);
    expect(await find()).toBe(await find());
  });

  it.each(Object.values(TITLES))('are bolder in a title: %s', async (title) => {
    const text = await readText(title, fonts, orderFamilies(title, fonts));
    const [bold, regular] = ([700, 400] as const).map((weight) =>
      setText(text, { size: 56, weight }, { width: 9999, lines: 1 }),
    );
    expect(draw(bold?.[0] as Line)).not.toEqual(draw(regular?.[0] as Line));
  });
});
