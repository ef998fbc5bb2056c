import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { getPictureKey, openPictures, type PictureOptions } from '../../src/pictures/pictures.ts';
import { buildServicePicture } from '../../src/views/picture.ts';
import { SITE } from '../http/serving.ts';
import { SCRATCH } from '../scratch.ts';
import { PICTURE } from './picture.ts';

function makeFolder(): string {
  const folder = mkdtempSync(join(SCRATCH, 'pictures-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function open(options: Partial<PictureOptions> = {}) {
  const onFailure = (error: unknown) => expect.unreachable(String(error));
  const pictures = openPictures({ folder: join(makeFolder(), 'new'), onFailure, timeoutMs: 120_000, ...options });
  onTestFinished(() => pictures.close());
  return pictures;
}

/** Reads what a PNG says of itself (ISO/IEC 15948, 5.2 and 11.2.2). */
function readPng(png: Buffer) {
  return { signature: png.toString('latin1', 0, 8), width: png.readUInt32BE(16), height: png.readUInt32BE(20) };
}

const PNG = { signature: '\x89PNG\r\n\x1a\n', width: 1200, height: 630 };

describe('pictures', () => {
  it('are PNG of the size that previews want, hold still for hostile text, and say what they say: another text is another picture', async () => {
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
    const [picture, other] = await Promise.all([
      pictures.get(PICTURE),
      pictures.get({ ...PICTURE, title: 'Other Prices' }),
    ]);
    expect(other).not.toEqual(picture);
    expect(getPictureKey({ ...PICTURE, stamp: null })).not.toBe(getPictureKey(PICTURE));
  });

  it('are painted once however many ask, kept up to a number, and after a restart not painted again; those painted first go, and are then the same as before', async () => {
    const folder = makeFolder();
    const pictures = open({ folder, kept: 2 });
    const [first, second] = await Promise.all([pictures.get(PICTURE), pictures.get({ ...PICTURE })]);
    expect(second).toBe(first);
    // Nothing is painted in a millisecond.
    expect(await open({ folder, timeoutMs: 1 }).get(PICTURE)).toEqual(first);
    for (const title of ['Second', 'Third']) await pictures.get({ ...PICTURE, title });
    expect(readdirSync(folder).sort()).toEqual(
      ['Second', 'Third'].map((title) => `${getPictureKey({ ...PICTURE, title })}.png`).sort(),
    );
    expect(await pictures.get(PICTURE)).toEqual(first);
  });

  it('are sent where they cannot be kept', async () => {
    const file = join(makeFolder(), 'file');
    writeFileSync(file, '');
    const onFailure = vi.fn();
    expect(readPng(await open({ folder: join(file, 'in'), onFailure }).get(PICTURE))).toEqual(PNG);
    expect(onFailure).toHaveBeenCalledWith(expect.objectContaining({ code: 'ENOTDIR' }));
  });

  it('are refused past what may wait, and painted on when there is room again', async () => {
    const pictures = open({ queued: 2 });
    const asked = Array.from({ length: 12 }, (_, number) => pictures.get({ ...PICTURE, title: `Flood ${number}` }));
    const ended = await Promise.allSettled(asked);
    expect(ended.map(({ status }) => status)).toEqual([...Array(2).fill('fulfilled'), ...Array(10).fill('rejected')]);
    for (const end of ended.slice(2)) {
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
