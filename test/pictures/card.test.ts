import { beforeAll, describe, expect, it } from 'vitest';
import { drawCard, PICTURE_SIZE } from '../../src/pictures/card.ts';
import { type Fonts, openFonts } from '../../src/pictures/fonts.ts';
import type { Picture } from '../../src/views/picture.ts';
import { TITLES } from './titles.ts';

const PICTURE: Picture = {
  service: 'Catalogue',
  title: 'Example Prices',
  host: 'api.prices.example',
  tagline: 'Prices of things.',
  author: 'Example Provider',
  facts: [
    { name: 'USDC per request', value: '0.001' },
    { name: 'Network', value: 'Base' },
  ],
  stamp: { text: '1 of 2 routes verified, 2026-11-20', tone: 'partly' },
};

let fonts: Fonts;
beforeAll(async () => {
  fonts = await openFonts();
});

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Reads the boxes around the lines of text of a card, from the outlines. */
function listBoxes(svg: string): Box[] {
  return [...svg.matchAll(/<path transform="translate\(([\d.-]+) ([\d.-]+)\)" fill="[^"]+" d="([^"]+)"/g)].map(
    ([, x, y, path = '']) => {
      const numbers = (path.match(/-?[\d.]+/g) ?? []).map(Number);
      const across = numbers.filter((_, at) => at % 2 === 0).map((value) => value + Number(x));
      const down = numbers.filter((_, at) => at % 2 === 1).map((value) => value + Number(y));
      return {
        ...{ left: Math.min(...across), right: Math.max(...across) },
        ...{ top: Math.min(...down), bottom: Math.max(...down) },
      };
    },
  );
}

function overlap(one: Box, other: Box): boolean {
  return (
    one.left < other.right &&
    other.left < one.right &&
    one.top < other.bottom &&
    other.top < one.bottom &&
    one !== other
  );
}

const STACKED = 'Z\u0351\u036B\u0343a\u0334\u0361l\u034E\u0320g\u035Do \u00C5\u0301\u1EAE\u0323 g\u0329y\u0329';

describe('a card', () => {
  it.each(Object.entries({ ...TITLES, 'stacked marks': STACKED }))(
    'in %s has no text over another or outside',
    async (_, title) => {
      const long = `${title}. `.repeat(20).slice(0, 500);
      for (const text of [title, long]) {
        const picture = { ...PICTURE, title: text, tagline: `${text} ${text}`, author: text, service: text };
        const boxes = listBoxes(drawCard(picture, fonts));
        expect(boxes.length).toBeGreaterThanOrEqual(10);
        expect(boxes.filter((box) => boxes.some((other) => overlap(box, other)))).toEqual([]);
        for (const { left, top, right, bottom } of boxes) {
          expect(left).toBeGreaterThan(56);
          expect(right).toBeLessThan(PICTURE_SIZE.width - 56);
          expect(top).toBeGreaterThan(40);
          expect(bottom).toBeLessThan(PICTURE_SIZE.height - 30);
          expect(top > 501 || bottom < 497 - 8).toBe(true);
        }
      }
    },
  );

  it('keeps its facts apart, however long they are', async () => {
    const facts = ['USDC per request', 'Network', 'Reliability', 'Weather'].map((name) => ({
      name,
      value: 'up to 0.000001 to up to 123456.123456',
    }));
    const boxes = listBoxes(drawCard({ ...PICTURE, facts }, fonts));
    expect(boxes.filter((box) => boxes.some((other) => overlap(box, other)))).toEqual([]);
    expect(Math.max(...boxes.map(({ right }) => right))).toBeLessThan(PICTURE_SIZE.width - 60);
  });

  it.each([
    '\u{1F680}\u{1F525}',
    '\u{1F680} - !',
    '',
    '\u202E\u2067',
    '世界の都市の天気予報',
    'OpenAI互換の翻訳API、50言語に対応した翻訳サービス',
    'Weather in 天気',
    'Prices ∛ 5',
  ])('is headed by the host where a word or sign of the title %j cannot be drawn', (title) => {
    const picture = { ...PICTURE, title, tagline: '' };
    expect(drawCard(picture, fonts)).toBe(drawCard({ ...picture, title: 'api.prices.example', host: null }, fonts));
  });

  it.each(['Example Prices', 'A long title of an API that does a great many things at once', '世界'])(
    'without a tagline has its words in the middle: %s',
    (title) => {
      const boxes = listBoxes(drawCard({ ...PICTURE, title, tagline: '' }, fonts));
      const words = boxes.filter(({ top, bottom }) => top > 104 && bottom < 495);
      const above = Math.min(...words.map(({ top }) => top)) - 104;
      const below = 497 - Math.max(...words.map(({ bottom }) => bottom));
      expect(Math.abs(above - below)).toBeLessThan(60);
    },
  );

  it('names the provider where no letter of its name can be drawn', async () => {
    expect(drawCard({ ...PICTURE, author: '\u{1F680}' }, fonts)).toBe(
      drawCard({ ...PICTURE, author: 'the provider' }, fonts),
    );
  });

  it('is the same with what no font has and without', async () => {
    const picture = {
      ...PICTURE,
      title: '\u{1F680} fly \u{1F680} now',
      tagline: 'a \u{1F525}b',
      author: '\u{1F680} c',
    };
    const plain = { ...PICTURE, title: 'fly now', tagline: 'a b', author: 'c' };
    expect(drawCard(picture, fonts)).toBe(drawCard(plain, fonts));
  });

  it('takes no markup from outside', async () => {
    const hostile = '</path></svg><script>alert(1)</script><image href="http://127.0.0.1:1/x"/>&amp;"\'';
    const svg = drawCard({ ...PICTURE, title: hostile, tagline: hostile, author: hostile, host: hostile }, fonts);
    expect(svg).toMatch(/^<svg [^<>]*>(<(rect|path) [^<>&]*\/>)+<\/svg>$/);
    expect(svg).not.toMatch(/script|href|image/);
  });
});
