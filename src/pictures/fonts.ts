import { readFile } from 'node:fs/promises';
import { Blob, Face, Font, Variation } from 'harfbuzzjs';
import decompress from 'woff2-encoder/decompress';

export type Weight = 400 | 700;

/** One file of the font: its package cuts it by ranges of characters. */
export interface FontFile {
  readonly weights: Readonly<Record<Weight, Font>>;
  /** Font units per em: what the figures of a glyph are in. */
  readonly unitsPerEm: number;
}

/** The files of Inter: letters of Latin, Greek and Cyrillic, 220 kB in all. */
const SUBSETS = ['latin', 'latin-ext', 'vietnamese', 'greek', 'greek-ext', 'cyrillic', 'cyrillic-ext'];

/** The font of pictures. */
export interface Fonts {
  /** Finds the first file that has all code points. */
  find(codePoints: readonly number[]): FontFile | undefined;
}

/** Opens the font. */
export async function openFonts(): Promise<Fonts> {
  const inter = import.meta.resolve('@fontsource-variable/inter/unicode.json');
  const files = await Promise.all(
    SUBSETS.map((subset) => readFontFile(new URL(`files/inter-${subset}-wght-normal.woff2`, inter))),
  );
  return {
    find: (codePoints) =>
      files.find(({ weights }) => codePoints.every((codePoint) => weights[400].nominalGlyph(codePoint))),
  };
}

async function readFontFile(url: URL): Promise<FontFile> {
  const face = new Face(new Blob(await decompress(await readFile(url))));
  const open = (weight: Weight) => {
    const font = new Font(face);
    font.setVariations([new Variation('wght', weight)]);
    return font;
  };
  return { weights: { 400: open(400), 700: open(700) }, unitsPerEm: face.upem };
}
