import type { Picture } from '../views/picture.ts';

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

/** Sizes of a title in pixels, by the number of characters up to which it fits two lines. */
const TITLE_SIZES = [
  { length: 24, size: 70 },
  { length: 50, size: 56 },
  { length: Number.POSITIVE_INFINITY, size: 44 },
] as const;

/** Look of a stamp by its tone: filled, framed or dashed, so that tones differ without colour too. */
const STAMPS = {
  proved: { background: COLOURS.accent, border: `4px solid ${COLOURS.accent}`, color: COLOURS.card, fontWeight: 700 },
  partly: { border: `4px solid ${COLOURS.accent}`, color: COLOURS.accent, fontWeight: 700 },
  plain: { border: `3px dashed ${COLOURS.soft}`, color: COLOURS.soft },
  danger: { background: COLOURS.alert, border: `4px solid ${COLOURS.alert}`, color: COLOURS.card, fontWeight: 700 },
} as const;

type Style = Readonly<Record<string, string | number>>;

/** An element for satori. Its text is never read as markup. */
export interface Element {
  readonly type: 'div';
  readonly props: { readonly style: Style; readonly children: string | readonly Element[] };
}

/** Returns the card of a picture. A text that does not fit is cut. */
export function buildCard(picture: Picture): Element {
  const { service, tagline, facts, stamp } = picture;
  const middle = tagline === '' ? { justifyContent: 'center', paddingBottom: 40 } : {};
  return box({ flexDirection: 'column', width: '100%', height: '100%', padding: '52px 64px 44px', ...PAPER }, [
    box({ alignItems: 'center', height: 52 }, [
      buildSign(),
      buildText(service, 1, { flexGrow: 1, flexBasis: 0, marginRight: 30, fontSize: 28, fontWeight: 700 }),
      ...(stamp ? [buildStamp(stamp)] : []),
    ]),
    box({ flexDirection: 'column', flexGrow: 1, paddingTop: 40, ...middle }, listWords(picture)),
    // Facts that do not fit wrap to a second line, which is hidden.
    box(
      { flexWrap: 'wrap', columnGap: 50, height: 90, overflow: 'hidden', borderTop: `4px solid ${COLOURS.ink}` },
      facts.map(({ name, value }) =>
        box({ flexDirection: 'column', maxWidth: '100%', height: 90, paddingTop: 20 }, [
          buildText(name, 1, { fontSize: 21, ...SOFT }),
          buildText(value, 1, { marginTop: 4, fontSize: 29, fontWeight: 700 }),
        ]),
      ),
    ),
  ]);
}

/** Lists title, host, tagline and the author of the tagline. */
function listWords({ title, host, tagline, author }: Picture): Element[] {
  const words = [buildText(title, 2, { fontSize: getTitleSize(title), fontWeight: 700, lineHeight: 1.2 })];
  if (host !== null) words.push(buildText(host, 1, { marginTop: 14, fontSize: 28, fontWeight: 700, ...ACCENT }));
  if (tagline === '') return words;
  words.push(buildText(tagline, 2, { marginTop: 20, fontSize: 31, lineHeight: 1.35, ...SOFT }));
  if (author !== null) words.push(buildText(`In the words of ${author}`, 1, { marginTop: 14, fontSize: 22, ...SOFT }));
  return words;
}

const PAPER = { background: COLOURS.paper, color: COLOURS.ink };
const SOFT = { color: COLOURS.soft };
const ACCENT = { color: COLOURS.accent };

function getTitleSize(title: string): number {
  return TITLE_SIZES.find(({ length }) => title.length <= length)?.size ?? 0;
}

/** Returns the service's sign: a receipt. */
function buildSign(): Element {
  const line = { height: 4, marginTop: 6, background: COLOURS.paper };
  return box(
    { flexDirection: 'column', width: 34, height: 44, marginRight: 16, padding: '4px 7px', background: COLOURS.accent },
    [box({ ...line, width: 20 }, []), box({ ...line, width: 13 }, [])],
  );
}

function buildStamp({ tone, text }: NonNullable<Picture['stamp']>): Element {
  return box({ padding: '0 18px', height: 52, alignItems: 'center', borderRadius: 8, fontSize: 26, ...STAMPS[tone] }, [
    buildText(tone === 'danger' ? `Danger: ${text}` : text, 1, { maxWidth: 640 }),
  ]);
}

function box(style: Style, children: readonly Element[]): Element {
  return {
    type: 'div',
    props: { style: { display: 'flex', flexShrink: 0, boxSizing: 'border-box', ...style }, children },
  };
}

/** Returns a text of at most `lines` lines. A longer one is cut, with an ellipsis. */
function buildText(text: string, lines: number, style: Style): Element {
  const cut = { display: 'block', lineClamp: lines, wordBreak: 'break-word' };
  return { type: 'div', props: { style: { ...cut, ...style }, children: text } };
}
