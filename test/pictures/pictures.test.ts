import { describe, expect, it, onTestFinished } from 'vitest';
import { getPictureKey, openPictures, PICTURE_LIMITS } from '../../src/pictures/pictures.ts';
import { buildServicePicture, type Picture } from '../../src/views/picture.ts';
import { SITE } from '../http/serving.ts';

const PICTURE: Picture = {
  service: 'Catalogue',
  title: 'Example Prices',
  host: 'api.prices.example',
  tagline: 'Prices of things.',
  author: 'Example Provider',
  facts: [{ name: 'USDC per request', value: '0.001' }],
  stamp: { text: '1 of 2 routes verified, 2026-11-20', tone: 'partly' },
};

function open(limits: Partial<typeof PICTURE_LIMITS> = {}) {
  const pictures = openPictures({ ...PICTURE_LIMITS, timeoutMs: 120_000, ...limits });
  onTestFinished(() => pictures.close());
  return pictures;
}

/** Reads what a PNG says of itself (ISO/IEC 15948, 5.2 and 11.2.2). */
function readPng(png: Buffer) {
  return { signature: png.toString('latin1', 0, 8), width: png.readUInt32BE(16), height: png.readUInt32BE(20) };
}

const PNG = { signature: '\x89PNG\r\n\x1a\n', width: 1200, height: 630 };

describe('pictures', () => {
  it('are PNG of the size that previews want, and hold still for hostile text', async () => {
    const pictures = open();
    const hostile = '</text></svg><script>alert(1)</script><image href="http://127.0.0.1:1/x"/>&amp;"\'';
    const texts = [
      [hostile, '\u{1F680} 天気 ракета', 'x'.repeat(5000)],
      ['', 'a\u0301\u200f\u202e\0b', '\u{1F680}'],
      ['x'.repeat(5000), hostile, '='.repeat(70)],
      ['\u{1F680} 天気 ракета', '', hostile],
    ] as const;
    for (const [title, tagline, author] of texts) {
      const png = await pictures.get({ ...PICTURE, title, tagline, author });
      expect(readPng(png)).toEqual(PNG);
      expect(png.length).toBeLessThan(200_000);
    }
    expect(readPng(await pictures.get(buildServicePicture(SITE)))).toEqual(PNG);
  });

  it('say what they say: another text is another picture, the same one the same', async () => {
    const [one, two] = [open(), open()];
    const [picture, again, other] = await Promise.all([
      one.get(PICTURE),
      two.get(PICTURE),
      one.get({ ...PICTURE, title: 'Other Prices' }),
    ]);
    expect(again).toEqual(picture);
    expect(other).not.toEqual(picture);
    expect(getPictureKey({ ...PICTURE, stamp: null })).not.toBe(getPictureKey(PICTURE));
  });

  it('are painted once however many ask, and again only when long forgotten', async () => {
    const pictures = open({ kept: 1 });
    const [first, second] = await Promise.all([pictures.get(PICTURE), pictures.get({ ...PICTURE })]);
    expect(second).toBe(first);
    expect(await pictures.get(PICTURE)).toBe(first);
    await pictures.get({ ...PICTURE, title: 'Another' });
    const again = await pictures.get(PICTURE);
    expect(again).not.toBe(first);
    expect(again).toEqual(first);
  });

  it('are refused past what may wait, and painted on when there is room again', async () => {
    const pictures = open({ queued: 3 });
    const asked = Array.from({ length: 50 }, (_, number) => pictures.get({ ...PICTURE, title: `Flood ${number}` }));
    const ended = await Promise.allSettled(asked);
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    for (const end of ended.slice(3)) {
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'unavailable', reason: 'busy' } });
    }
    expect(readPng(await pictures.get({ ...PICTURE, title: 'After the flood' }))).toEqual(PNG);
  });

  it('give up on what takes too long, and start anew with the next', async () => {
    const pictures = open({ timeoutMs: 1 });
    await expect(pictures.get(PICTURE)).rejects.toMatchObject({ code: 'unavailable', reason: 'painting_timeout' });
    await expect(pictures.get(PICTURE)).rejects.toMatchObject({ reason: 'painting_timeout' });
  });
});
