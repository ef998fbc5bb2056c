import type { Picture } from '../views/picture.ts';
import type { Fonts } from './fonts.ts';
import { type DrawableText, drawLine, type Line, readText, setText, type TextStyle } from './typesetting.ts';

/** Size of a picture for link previews, in pixels. */
export const PICTURE_SIZE = { width: 1200, height: 630 } as const;

const COLOURS = {
  paper: '#faf9f5',
  card: '#ffffff',
  ink: '#1b1e1c',
  soft: '#545b57',
  accent: '#0d5a4a',
  alert: '#9c2f1f',
};

const LEFT = 64;
const RIGHT = PICTURE_SIZE.width - LEFT;

/** The bar at the top, with the service's name and the stamp, and the middle of it. */
const BAR_BOTTOM = 104;
const BAR_MIDDLE = 78;
const WORDS_TOP = 148;
const WORDS_BOTTOM = 482;
/** The line over the facts. */
const FACTS_TOP = 497;

/** A title that fits one line is set large. On two lines it is smaller, even more so where its letters are tall. */
const TITLES = [
  { size: 70, lines: 1 },
  { size: 56, lines: 2 },
  { size: 48, lines: 2 },
  { size: 40, lines: 2 },
] as const;

/** Height of a line and of what is above its baseline, in ems, as Inter has them. */
const LINE_HEIGHT = 1.21;
const ASCENT = 0.969;

const LETTER = /[\p{L}\p{N}\p{Sm}\p{Sc}]/u;
const LETTERS = /[\p{L}\p{N}\p{Sm}\p{Sc}]/gu;

type Read = (text: string) => DrawableText;

/**
 * Draws the card of a picture as SVG. It holds outlines and no text, so nothing from outside can become markup, and the
 * layout is fixed.
 */
export function drawCard(picture: Picture, fonts: Fonts): string {
  const read = (text: string) => readText(text, fonts);
  const stamp = picture.stamp && drawStamp(picture.stamp, read);
  const nameWidth = RIGHT - LEFT - 50 - (stamp ? stamp.width + 30 : 0);
  const [name] = setText(read(picture.service), { size: 28, weight: 700 }, { width: nameWidth, lines: 1 });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${PICTURE_SIZE.width}" height="${PICTURE_SIZE.height}">`,
    drawBox(0, 0, PICTURE_SIZE.width, PICTURE_SIZE.height, COLOURS.paper),
    drawSign(),
    name ? place(name, LEFT + 50, BAR_MIDDLE + 10, COLOURS.ink) : '',
    stamp?.svg ?? '',
    drawWords(picture, read),
    drawFacts(picture, read),
    '</svg>',
  ].join('');
}

/** A paragraph of the words in the middle. */
interface Paragraph extends TextStyle {
  /** Ours, on the same line before the text. */
  readonly lead?: DrawableText;
  readonly text: DrawableText;
  readonly lines: number;
  /** Space above it, in pixels. */
  readonly gap: number;
  /** Height of a line, in ems. */
  readonly height: number;
  readonly colour: string;
}

/** Draws title, host, tagline and whose words it is. A title that the font cannot draw gives way to the host, such a tagline to nothing. */
function drawWords({ title, host, tagline, author }: Picture, read: Read): string {
  const written = read(title);
  const isTitled = host === null || isDrawn(title, written);
  const text = isTitled ? written : read(host);
  const said = read(tagline);
  const rest: Paragraph[] = [];
  if (host !== null && isTitled) {
    const style = { size: 28, weight: 700, lines: 1, gap: 14, height: LINE_HEIGHT, colour: COLOURS.accent } as const;
    rest.push({ text: read(host), ...style });
  }
  const isTold = isDrawn(tagline, said);
  if (isTold) {
    rest.push({ text: said, size: 31, weight: 400, lines: 2, gap: 22, height: 1.35, colour: COLOURS.soft });
    const style = { size: 22, weight: 400, lines: 1, gap: 14, height: LINE_HEIGHT, colour: COLOURS.soft } as const;
    if (author !== null) {
      const known = read(author);
      const whose = isDrawn(author, known) ? known : read('the provider');
      rest.push({ lead: read('In the words of'), text: whose, ...style });
    }
  }
  let drawn = '';
  for (const { size, lines } of TITLES) {
    const heading = { text, size, weight: 700, lines: 2, gap: 0, height: 1.14, colour: COLOURS.ink } as const;
    const column = drawColumn([heading, ...rest], WORDS_TOP);
    // Title and host are in the middle of the room that is left if there is no tagline.
    const middle = WORDS_TOP + (WORDS_BOTTOM - column.bottom) / 2;
    drawn = isTold ? column.svg : drawColumn([heading, ...rest], middle).svg;
    if (column.titleLines <= lines && column.bottom <= WORDS_BOTTOM) break;
  }
  return drawn;
}

/** Says whether a text can be drawn without losing a letter, a digit or a sign that means something; an emoji may be lost. */
function isDrawn(text: string, { characters }: DrawableText): boolean {
  const drawn = characters.filter((character) => LETTER.test(character.text)).length;
  return drawn > 0 && drawn === (text.match(LETTERS)?.length ?? 0);
}

/** Draws paragraphs below each other, from `from` pixels on. Lines whose letters are tall move down until they touch nothing. */
function drawColumn(paragraphs: readonly Paragraph[], from: number) {
  const drawn: string[] = [];
  const linesOf: number[] = [];
  let top = from;
  let bottom = BAR_BOTTOM;
  for (const { lead, text, gap, height, colour, lines: most, ...style } of paragraphs) {
    top += gap;
    const [before] = lead ? setText(lead, style, { width: RIGHT - LEFT, lines: 1 }) : [];
    const indent = before ? before.width + style.size * 0.28 : 0;
    const lines = setText(text, style, { width: RIGHT - LEFT - indent, lines: most });
    linesOf.push(lines.length);
    for (const [number, line] of lines.entries()) {
      const { above, below } = drawLine(line);
      const usual = top + ((height - LINE_HEIGHT) / 2 + ASCENT) * style.size;
      const baseline = Math.max(usual, bottom + (number === 0 ? 10 : 4) + above);
      if (before) drawn.push(place(before, LEFT, baseline, colour));
      drawn.push(place(line, LEFT + indent, baseline, colour));
      bottom = baseline + below;
      top += height * style.size + baseline - usual;
    }
  }
  return { svg: drawn.join(''), bottom, titleLines: linesOf[0] ?? 0 };
}

/** Draws the small facts along the bottom, below a line. Those that find no room are cut or left out. */
function drawFacts({ facts }: Picture, read: Read): string {
  const drawn = [drawBox(LEFT, FACTS_TOP, RIGHT - LEFT, 4, COLOURS.ink)];
  let left = LEFT;
  for (const { name, value } of facts) {
    const frame = { width: RIGHT - left, lines: 1 };
    if (frame.width < 60) break;
    const [above] = setText(read(name), { size: 21, weight: 400 }, frame);
    const [below] = setText(read(value), { size: 29, weight: 700 }, frame);
    if (above) drawn.push(place(above, left, FACTS_TOP + 44, COLOURS.soft));
    if (below) drawn.push(place(below, left, FACTS_TOP + 81, COLOURS.ink));
    left += Math.max(above?.width ?? 0, below?.width ?? 0) + 50;
  }
  return drawn.join('');
}

/** Draws the service's sign: a receipt. */
function drawSign(): string {
  return [
    drawBox(LEFT, BAR_MIDDLE - 22, 34, 44, COLOURS.accent),
    drawBox(LEFT + 7, BAR_MIDDLE - 12, 20, 4, COLOURS.paper),
    drawBox(LEFT + 7, BAR_MIDDLE - 2, 13, 4, COLOURS.paper),
  ].join('');
}

/** Told apart without colour: filled where all is proved, framed where some is, dashed where nothing is. */
function drawStamp({ tone, text }: NonNullable<Picture['stamp']>, read: Read) {
  const weight = tone === 'plain' ? 400 : 700;
  const words = read(tone === 'danger' ? `Danger: ${text}` : text);
  const [line = { glyphs: [], width: 0 }] = setText(words, { size: 26, weight }, { width: 600, lines: 1 });
  const width = line.width + 44;
  const [fill = '', stroke = '', colour = ''] = {
    proved: [COLOURS.accent, COLOURS.accent, COLOURS.card],
    partly: [COLOURS.paper, COLOURS.accent, COLOURS.accent],
    plain: [COLOURS.paper, COLOURS.soft, COLOURS.soft],
    danger: [COLOURS.alert, COLOURS.alert, COLOURS.card],
  }[tone];
  const frame = `x="${RIGHT - width + 2}" y="${BAR_MIDDLE - 24}" width="${width - 4}" height="48" rx="7"`;
  const dashes = tone === 'plain' ? 'stroke-width="3" stroke-dasharray="9 6"' : 'stroke-width="4"';
  const box = `<rect ${frame} fill="${fill}" stroke="${stroke}" ${dashes}/>`;
  return { svg: box + place(line, RIGHT - width + 22, BAR_MIDDLE + 9.5, colour), width };
}

function drawBox(x: number, y: number, width: number, height: number, colour: string): string {
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${colour}"/>`;
}

function place(line: Line, x: number, baseline: number, colour: string): string {
  return `<path transform="translate(${x} ${baseline})" fill="${colour}" d="${drawLine(line).path}"/>`;
}
