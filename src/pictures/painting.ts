import { readFile } from 'node:fs/promises';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import type { Picture } from '../views/picture.ts';
import { drawCard } from './card.ts';
import { openFonts } from './fonts.ts';

/** Paints a picture as PNG. */
export type Paint = (picture: Picture) => Promise<Uint8Array>;

/** Opens painting: the rasteriser and the font are read from their packages once. */
export async function openPainting(): Promise<Paint> {
  const [fonts] = await Promise.all([
    openFonts(),
    readFile(new URL(import.meta.resolve('@resvg/resvg-wasm/index_bg.wasm'))).then((wasm) => initWasm(wasm)),
  ]);
  return async (picture) => rasterise(drawCard(picture, fonts));
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
