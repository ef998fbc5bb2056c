import bidiFactory from 'bidi-js';
import { Buffer, BufferFlag, Direction, DrawFuncs, type Font, shape } from 'harfbuzzjs';
import type { FontFile, Fonts, Weight } from './fonts.ts';

export interface TextStyle {
  /** Size of an em, in pixels. */
  readonly size: number;
  readonly weight: Weight;
}

/** What a text must fit into. */
export interface Frame {
  /** In pixels. */
  readonly width: number;
  readonly lines: number;
}

/** A character as a reader sees one, and a font that has it. */
interface Character {
  readonly text: string;
  readonly file: FontFile;
}

/** Text of which every character has a font. */
export interface DrawableText {
  readonly characters: readonly Character[];
  /** Whether it is read from right to left, as most of its words are. */
  readonly rightToLeft: boolean;
  /** What is put where the text is cut. */
  readonly ellipsis: readonly Character[];
}

/** A line of text as it is seen. */
export interface Line {
  /** From left to right, whatever way they are read. */
  readonly glyphs: readonly Glyph[];
  /** In pixels. */
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

/** Lists the families of fonts in the order that suits the language of a text. */
export function orderFamilies(text: string, { families }: Fonts): readonly string[] {
  // Chinese, Japanese and Korean share characters and draw some of them differently. Only the last two have letters too.
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return moveBefore('japanese', 'chinese', families);
  if (/\p{Script=Hangul}/u.test(text)) return moveBefore('korean', 'chinese', families);
  return families;
}

function moveBefore(family: string, other: string, families: readonly string[]): string[] {
  return families.flatMap((name) => (name === family ? [] : name === other ? [family, other] : [name]));
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Controls, direction marks and others that are not seen. Two joiners change how their neighbours look, and stay. */
const UNSEEN = /(?![\u200C\u200D])[\p{Cc}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;
const SPACES = /\p{White_Space}+/gu;

/** Marks that belong to no script. Past the second on one letter they draw over the lines around. */
const MARK = String.raw`[\u0300-\u036F\u1AB0-\u1AFF\u1DC0-\u1DFF\u20D0-\u20FF\uFE20-\uFE2F]`;
const MARK_STACK = new RegExp(`(${MARK}{2})${MARK}+`, 'gu');

/** Finds fonts for a text. Characters that no font has are left out, and white space is closed up around them. */
export async function readText(text: string, fonts: Fonts, families: readonly string[]): Promise<DrawableText> {
  const plain = text.replace(SPACES, ' ').replace(UNSEEN, '').normalize('NFC').replace(MARK_STACK, '$1');
  const characters: Character[] = [];
  for (const { segment } of graphemes.segment(plain)) {
    const previous = characters.at(-1);
    if (segment === ' ' && (!previous || previous.text === ' ')) continue;
    const found = await findCharacter(segment, previous, fonts, families);
    if (found) characters.push(found);
  }
  if (characters.at(-1)?.text === ' ') characters.pop();
  const ellipsis = await findCharacter('…', characters.at(-1), fonts, families);
  const rightToLeft = isRightToLeft(characters.map((character) => character.text).join(''));
  return { characters, rightToLeft, ellipsis: ellipsis ? [ellipsis] : [] };
}

async function findCharacter(
  text: string,
  previous: Character | undefined,
  fonts: Fonts,
  families: readonly string[],
): Promise<Character | undefined> {
  // Marks that several scripts share look best in the font of the letters before them.
  const isShared = previous && /^[^\p{ASCII}\p{L}]/u.test(text);
  const order = isShared ? [previous.file.family, ...families] : families;
  for (const drawn of [text, text.replace(/(?<=\p{L})\p{M}+/gu, '')]) {
    const codePoints = Array.from(drawn, (character) => character.codePointAt(0) ?? 0);
    const needed = codePoints.filter((codePoint) => codePoint !== 0x200c && codePoint !== 0x200d);
    const file = needed.length > 0 ? await fonts.find(needed, order) : undefined;
    if (file) return { text: drawn, file };
  }
  return undefined;
}

// Its types describe a module of the other format: what they call `default` is what is imported.
const bidi = (bidiFactory as unknown as typeof bidiFactory.default)();

/**
 * Says whether most words of a text are read from right to left. Words count and not letters, because a short Arabic
 * sentence may have more letters in the Latin names that it mentions.
 */
function isRightToLeft(text: string): boolean {
  const found = text.match(/\p{L}[\p{L}\p{M}]*/gu) ?? [];
  const ways = found.map((word) => ['R', 'AL'].includes(bidi.getBidiCharTypeName(word)));
  const most = ways.filter((way) => way).length - ways.length / 2;
  return most === 0 ? (ways[0] ?? false) : most > 0;
}

/** Breaks text into lines that fit a frame. What does not fit is cut, with an ellipsis. */
export function setText(text: DrawableText, style: TextStyle, { width, lines }: Frame): Line[] {
  const { characters, rightToLeft, ellipsis } = text;
  const shapeRange = (from: number, to: number, end: readonly Character[] = []) =>
    shapeLine([...trimSpaces(characters.slice(from, to)), ...end], rightToLeft, style);
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

const words = new Intl.Segmenter('en', { granularity: 'word' });

/** Characters that fill a square, between which a line may end anywhere. */
const SQUARE = /^[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Bopo}\u3000-\u303F\uFF01-\uFF60]/u;
/** Other scripts that put no space between words. */
const UNSPACED = /^[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}]/u;
/** What no line of these scripts begins with, and what none ends with. */
const NEVER_FIRST = /^[\p{Pe}\p{Pf}\p{Po}\p{Pd}\p{Lm}\p{M}ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ]/u;
const NEVER_LAST = /^[\p{Ps}\p{Pi}\p{Sc}#@]/u;
const HYPHEN = /^[-\u2010\u2013\u2014/]/u;

/** Lists where a line may begin, as places in a text. */
function listBreaks(characters: readonly Character[]): number[] {
  const text = characters.map((character) => character.text).join('');
  const wordStarts = new Set(Array.from(words.segment(text), ({ index }) => index));
  const breaks: number[] = [];
  let offset = 0;
  for (const [place, { text: after }] of characters.entries()) {
    const before = characters[place - 1]?.text;
    if (before !== undefined && mayBreak(before, after, wordStarts.has(offset))) breaks.push(place);
    offset += after.length;
  }
  return breaks;
}

function mayBreak(before: string, after: string, startsWord: boolean): boolean {
  if (after === ' ') return false;
  if (before === ' ') return true;
  if (HYPHEN.test(before)) return startsWord && /^\p{L}/u.test(after);
  if (NEVER_FIRST.test(after) || NEVER_LAST.test(before)) return false;
  const isUnspaced = UNSPACED.test(before) || UNSPACED.test(after);
  return SQUARE.test(before) || SQUARE.test(after) || (startsWord && isUnspaced);
}

/** Characters of one font that are read in one direction. */
interface Run {
  readonly file: FontFile;
  readonly level: number;
  readonly start: number;
  end: number;
}

const buffer = new Buffer();

/** Gives characters their forms and places: joined, reordered and with marks where the script wants them. */
function shapeLine(characters: readonly Character[], rightToLeft: boolean, { size, weight }: TextStyle): Line {
  const text = characters.map((character) => character.text).join('');
  const { levels } = bidi.getEmbeddingLevels(text, rightToLeft ? 'rtl' : 'ltr');
  const glyphs: Glyph[] = [];
  let x = 0;
  for (const { file, level, start, end } of orderVisually(listRuns(characters, levels))) {
    const font = file.weights[weight];
    const scale = size / file.unitsPerEm;
    buffer.reset();
    buffer.setFlags(BufferFlag.DO_NOT_INSERT_DOTTED_CIRCLE | BufferFlag.REMOVE_DEFAULT_IGNORABLES);
    buffer.addText(text, start, end - start);
    buffer.setDirection(level % 2 === 1 ? Direction.RTL : Direction.LTR);
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

function listRuns(characters: readonly Character[], levels: Uint8Array): Run[] {
  const runs: Run[] = [];
  let offset = 0;
  for (const { text, file } of characters) {
    const level = levels[offset] ?? 0;
    const last = runs.at(-1);
    const end = offset + text.length;
    if (last?.file === file && last.level === level) last.end = end;
    else runs.push({ file, level, start: offset, end });
    offset = end;
  }
  return runs;
}

/** Orders runs from left to right (rule L2 of UAX 9). */
function orderVisually(runs: readonly Run[]): Run[] {
  let ordered = [...runs];
  const highest = Math.max(0, ...runs.map(({ level }) => level));
  for (let level = highest; level > 0; level--) {
    const next: Run[] = [];
    let turned: Run[] = [];
    for (const run of ordered) {
      if (run.level >= level) turned = [run, ...turned];
      else {
        next.push(...turned, run);
        turned = [];
      }
    }
    ordered = [...next, ...turned];
  }
  return ordered;
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
