/** Paints pictures in a thread of its own, because painting one takes a tenth of a second and would delay requests. */

import { readFile } from 'node:fs/promises';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import satori, { type Font } from 'satori';
import { graphemes } from '../model/text.ts';
import type { Picture } from '../views/picture.ts';
import { buildCard, type Element, PICTURE_SIZE } from './card.ts';

/** Subsets of Inter: letters of Latin, Greek and Cyrillic. */
const SUBSETS = ['latin', 'latin-ext', 'vietnamese', 'greek', 'greek-ext', 'cyrillic', 'cyrillic-ext'];

/** Longest text that is painted, in UTF-16 units. */
const TEXT_LENGTH = 200;

const SPACES = /\p{White_Space}+/gu;

/** Invisible characters (controls, direction marks, joiners), and accents that did not combine with a letter. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\p{M}]/gu;

const LETTER = /[\p{L}\p{N}\p{Sm}\p{Sc}]/u;

const [fonts] = await Promise.all([
  readFonts(),
  readFile(new URL(import.meta.resolve('@resvg/resvg-wasm/index_bg.wasm'))).then((wasm) => initWasm(wasm)),
]);

async function readFonts(): Promise<Font[]> {
  const inter = import.meta.resolve('@fontsource/inter/unicode.json');
  const files = SUBSETS.flatMap((subset) => ([400, 700] as const).map((weight) => ({ subset, weight })));
  return Promise.all(
    files.map(async ({ subset, weight }) => {
      const data = await readFile(new URL(`files/inter-${subset}-${weight}-normal.woff`, inter));
      return { name: `Inter ${subset}`, weight, style: 'normal', data };
    }),
  );
}

/** Paints a picture, and returns it as PNG. */
export default async function paint(picture: Picture): Promise<Uint8Array> {
  const svg = await draw(buildCard(await choosePaintable(picture)));
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

/** Draws an element as SVG with text as outlines. `onMissing` receives the characters that no font has. */
function draw(element: Element, onMissing?: (characters: string) => void): Promise<string> {
  return satori(element, {
    ...PICTURE_SIZE,
    fonts,
    ...(onMissing && {
      loadAdditionalAsset: async (_, characters) => {
        onMissing(characters);
        return [];
      },
    }),
  });
}

/**
 * Returns a picture whose texts the fonts can paint. If they cannot, the host replaces the title, "the provider" the author, and
 * the tagline is left out.
 */
async function choosePaintable(picture: Picture): Promise<Picture> {
  const { service, title, tagline, author, host } = picture;
  const missing = await findMissing([service, title, tagline, author].map((text) => clean(text ?? '')).join(' '));
  const painted = choosePaintableText(title, missing);
  return {
    ...picture,
    service: choosePaintableText(service, missing),
    title: painted || (host ?? ''),
    host: painted ? host : null,
    tagline: choosePaintableText(tagline, missing),
    author: author === null ? null : choosePaintableText(author, missing) || 'the provider',
  };
}

/**
 * Returns a text without the characters that no font has, such as an emoji; empty if one of them is a letter, a digit, or a sign of
 * mathematics or money.
 */
function choosePaintableText(text: string, missing: ReadonlySet<string>): string {
  const characters = listCharacters(clean(text));
  if (characters.some((character) => missing.has(character) && LETTER.test(character))) return '';
  const painted = characters.filter((character) => !missing.has(character)).join('');
  return LETTER.test(painted) ? painted.replace(SPACES, ' ').trim() : '';
}

function clean(text: string): string {
  return text.slice(0, TEXT_LENGTH).replace(SPACES, ' ').normalize('NFC').replace(UNSEEN, '');
}

/** Returns the characters of a text that no font has. */
async function findMissing(text: string): Promise<Set<string>> {
  const missing = new Set<string>();
  const style = { display: 'block', lineClamp: 1 };
  await draw({ type: 'div', props: { style, children: text } }, (characters) => {
    for (const character of listCharacters(characters)) missing.add(character);
  });
  return missing;
}

function listCharacters(text: string): string[] {
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}
