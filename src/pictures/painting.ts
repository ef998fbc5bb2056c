import { readFile } from 'node:fs/promises';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import satori, { type Font } from 'satori';
import type { Picture } from '../views/picture.ts';
import { buildCard, PICTURE_SIZE, withoutCharacters } from './card.ts';

/** Paints a picture as PNG. */
export type Paint = (picture: Picture) => Promise<Uint8Array>;

const SUBSETS = ['latin', 'latin-ext', 'cyrillic', 'cyrillic-ext', 'greek', 'vietnamese'];
const WEIGHTS = [400, 700] as const;

/** Opens painting: fonts and the rasteriser are read from their packages, once. */
export async function openPainting(): Promise<Paint> {
  const [fonts] = await Promise.all([
    Promise.all(SUBSETS.flatMap((subset) => WEIGHTS.map((weight) => readFont(subset, weight)))),
    readFile(new URL(import.meta.resolve('@resvg/resvg-wasm/index_bg.wasm'))).then((wasm) => initWasm(wasm)),
  ]);
  return async (picture) => rasterise(await drawWithout(picture, fonts));
}

async function readFont(subset: string, weight: 400 | 700): Promise<Font> {
  const folder = import.meta.resolve('@fontsource/inter/package.json');
  const data = await readFile(new URL(`files/inter-${subset}-${weight}-normal.woff`, folder));
  return { name: subset, data, weight, style: 'normal' };
}

/**
 * Draws a picture, first to learn which characters no font has (emoji, other scripts), then without them: a title is
 * shorter for it and shows no empty boxes.
 */
async function drawWithout(picture: Picture, fonts: Font[]): Promise<string> {
  const missing = new Set<string>();
  const svg = await draw(picture, fonts, missing);
  return missing.size === 0 ? svg : draw(withoutCharacters(picture, missing), fonts, new Set());
}

async function draw(picture: Picture, fonts: Font[], missing: Set<string>): Promise<string> {
  const card = buildCard(picture);
  const { style } = card.props;
  const root = { ...card, props: { ...card.props, style: { ...style, fontFamily: SUBSETS.join(', ') } } };
  return satori(root, {
    ...PICTURE_SIZE,
    fonts,
    loadAdditionalAsset: async (_language, segment) => {
      missing.add(segment);
      return [];
    },
  });
}

function rasterise(svg: string): Uint8Array {
  const image = new Resvg(svg, { font: { loadSystemFonts: false } });
  try {
    const rendered = image.render();
    try {
      return rendered.asPng();
    } finally {
      rendered.free();
    }
  } finally {
    image.free();
  }
}
