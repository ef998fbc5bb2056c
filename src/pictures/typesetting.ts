import { Buffer, BufferFlag, Direction, DrawFuncs, type Font, shape } from 'harfbuzzjs';
import type { FontFile, Fonts, Weight } from './fonts.ts';

export interface TextStyle {
  /** Size of an em, in pixels. */
  readonly size: number;
  readonly weight: Weight;
}

/** Room for a text. */
export interface Frame {
  /** Pixels. */
  readonly width: number;
  readonly lines: number;
}

/** A character as a reader sees one, and the file of the font that has it. */
interface Character {
  readonly text: string;
  readonly file: FontFile;
}

/** Text of which every character can be drawn. */
export interface DrawableText {
  readonly characters: readonly Character[];
  /** Characters put where the text is cut. */
  readonly ellipsis: readonly Character[];
}

/** A line of text as it is seen. */
export interface Line {
  readonly glyphs: readonly Glyph[];
  /** Pixels. */
  readonly width: number;
}

/** A form that a font draws. Its place is in pixels from the start of the line, y upwards from the baseline. */
export interface Glyph {
  readonly font: Font;
  readonly id: number;
  readonly x: number;
  readonly y: number;
  /** Pixels per font unit. */
  readonly scale: number;
  /** The character that it stands for, or the first of them. */
  readonly text: string;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Controls, direction marks, joiners and others that are not seen. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;
const SPACES = /\p{White_Space}+/gu;

/** Marks that belong to no script. Past the second on one letter they draw over the lines around. */
const MARK = String.raw`[\u0300-\u036F\u1AB0-\u1AFF\u1DC0-\u1DFF\u20D0-\u20FF\uFE20-\uFE2F]`;
const MARK_STACK = new RegExp(`(${MARK}{2})${MARK}+`, 'gu');

/** Returns what of a text can be drawn. Characters that the font lacks are left out, and white space is closed up around them. */
export function readText(text: string, fonts: Fonts): DrawableText {
  const plain = text.replace(SPACES, ' ').replace(UNSEEN, '').normalize('NFC').replace(MARK_STACK, '$1');
  const characters: Character[] = [];
  for (const { segment } of graphemes.segment(plain)) {
    const previous = characters.at(-1);
    if (segment === ' ' && (!previous || previous.text === ' ')) continue;
    const found = findCharacter(segment, fonts);
    if (found) characters.push(found);
  }
  if (characters.at(-1)?.text === ' ') characters.pop();
  const ellipsis = findCharacter('…', fonts);
  return { characters, ellipsis: ellipsis ? [ellipsis] : [] };
}

function findCharacter(text: string, fonts: Fonts): Character | undefined {
  for (const drawn of [text, text.replace(/(?<=\p{L})\p{M}+/gu, '')]) {
    const codePoints = Array.from(drawn, (character) => character.codePointAt(0) ?? 0);
    const file = codePoints.length > 0 ? fonts.find(codePoints) : undefined;
    if (file) return { text: drawn, file };
  }
  return undefined;
}

/** Breaks text into lines that fit a frame. What does not fit is cut, with an ellipsis. */
export function setText(text: DrawableText, style: TextStyle, { width, lines }: Frame): Line[] {
  const { characters, ellipsis } = text;
  const shapeRange = (from: number, to: number, end: readonly Character[] = []) =>
    shapeLine([...trimSpaces(characters.slice(from, to)), ...end], style);
  const breaks = [...listBreaks(characters), characters.length];
  const set: Line[] = [];
  for (let start = 0; start < characters.length; ) {
    const rest = shapeRange(start, characters.length);
    if (rest.width <= width) return [...set, rest];
    const left = characters.length - start;
    if (set.length === lines - 1) {
      const kept = countFitting(left, (count) => shapeRange(start, start + count, ellipsis).width <= width);
      return [...set, shapeRange(start, start + kept, ellipsis)];
    }
    const places = breaks.filter((place) => place > start);
    const fitting = countFitting(places.length, (count) => shapeRange(start, places[count - 1] ?? 0).width <= width);
    const end =
      places[fitting - 1] ??
      // A word longer than a line is broken where the line ends.
      start +
        Math.max(
          1,
          countFitting(left, (count) => shapeRange(start, start + count).width <= width),
        );
    set.push(shapeRange(start, end));
    start = end;
  }
  return set;
}

/** Counts how many of the first ones fit, where more of them are never narrower. */
function countFitting(count: number, fits: (count: number) => boolean): number {
  let [known, above] = [0, count + 1];
  while (above - known > 1) {
    const middle = Math.floor((known + above) / 2);
    if (fits(middle)) known = middle;
    else above = middle;
  }
  return known;
}

function trimSpaces(characters: readonly Character[]): readonly Character[] {
  const from = characters[0]?.text === ' ' ? 1 : 0;
  return characters.slice(from, characters.at(-1)?.text === ' ' ? -1 : undefined);
}

const HYPHEN = /^[-\u2010\u2013\u2014/]/u;

/** Lists where a line may begin, as places in a text. */
function listBreaks(characters: readonly Character[]): number[] {
  return characters.flatMap(({ text: after }, place) => {
    const before = characters[place - 1]?.text;
    if (before === undefined || after === ' ') return [];
    return before === ' ' || (HYPHEN.test(before) && /^\p{L}/u.test(after)) ? [place] : [];
  });
}

/** Characters of one file of the font. */
interface Run {
  readonly file: FontFile;
  readonly start: number;
  end: number;
}

const buffer = new Buffer();

/** Gives characters their forms and places. */
function shapeLine(characters: readonly Character[], { size, weight }: TextStyle): Line {
  const text = characters.map((character) => character.text).join('');
  const glyphs: Glyph[] = [];
  let x = 0;
  for (const { file, start, end } of listRuns(characters)) {
    const font = file.weights[weight];
    const scale = size / file.unitsPerEm;
    buffer.reset();
    buffer.setFlags(BufferFlag.DO_NOT_INSERT_DOTTED_CIRCLE | BufferFlag.REMOVE_DEFAULT_IGNORABLES);
    buffer.addText(text, start, end - start);
    buffer.setDirection(Direction.LTR);
    buffer.guessSegmentProperties();
    shape(font, buffer);
    const positions = buffer.getGlyphPositions();
    for (const [at, { codepoint: id, cluster }] of buffer.getGlyphInfos().entries()) {
      const { xAdvance = 0, xOffset = 0, yOffset = 0 } = positions[at] ?? {};
      const character = String.fromCodePoint(text.codePointAt(cluster) ?? 0);
      glyphs.push({ font, id, x: x + xOffset * scale, y: yOffset * scale, scale, text: character });
      x += xAdvance * scale;
    }
  }
  return { glyphs, width: x };
}

function listRuns(characters: readonly Character[]): Run[] {
  const runs: Run[] = [];
  let offset = 0;
  for (const { text, file } of characters) {
    const last = runs.at(-1);
    const end = offset + text.length;
    if (last?.file === file) last.end = end;
    else runs.push({ file, start: offset, end });
    offset = end;
  }
  return runs;
}

/** Outlines of a line, and how far they reach from its baseline, in pixels. */
export interface Outlines {
  /** Data of an SVG path that starts at the start of the baseline. */
  readonly path: string;
  readonly above: number;
  readonly below: number;
}

interface Pen extends Pick<Glyph, 'x' | 'y' | 'scale'> {
  readonly steps: string[];
  readonly heights: number[];
}

/** Draws a line. */
export function drawLine({ glyphs }: Line): Outlines {
  const steps: string[] = [];
  const heights: number[] = [];
  for (const { font, id, x, y, scale } of glyphs) {
    const pen: Pen = { x, y, scale, steps, heights };
    font.drawGlyph(id, drawing, pen);
  }
  return {
    path: steps.join(''),
    above: heights.reduce((most, height) => Math.max(most, height), 0),
    below: heights.reduce((most, height) => Math.max(most, -height), 0),
  };
}

const drawing = openDrawing();

function openDrawing(): DrawFuncs {
  const draw = new DrawFuncs();
  const go = (command: string, data: unknown, ...points: readonly number[]) => {
    const { x, y, scale, steps, heights } = data as Pen;
    const placed = points.map((value, at) => (at % 2 === 0 ? x + value * scale : y + value * scale));
    heights.push(...placed.filter((_, at) => at % 2 === 1));
    steps.push(`${command}${placed.map((value, at) => (at % 2 === 0 ? value : -value).toFixed(2)).join(' ')}`);
  };
  draw.setMoveToFunc((x, y, data) => go('M', data, x, y));
  draw.setLineToFunc((x, y, data) => go('L', data, x, y));
  draw.setQuadraticToFunc((cx, cy, x, y, data) => go('Q', data, cx, cy, x, y));
  draw.setCubicToFunc((ax, ay, bx, by, x, y, data) => go('C', data, ax, ay, bx, by, x, y));
  draw.setClosePathFunc((data) => (data as Pen).steps.push('Z'));
  return draw;
}
