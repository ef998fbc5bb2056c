import type { Picture } from '../views/picture.ts';

/** Size of a picture for link previews, in pixels. */
export const PICTURE_SIZE = { width: 1200, height: 630 } as const;

/** An element as the layout engine reads it: what React would make of JSX, without React. */
export interface Element {
  readonly type: string;
  readonly key: null;
  readonly props: { readonly style: Readonly<Record<string, string | number>>; readonly children?: readonly Child[] };
}
type Child = Element | string;

const COLOURS = {
  paper: '#faf9f5',
  card: '#ffffff',
  ink: '#1b1e1c',
  soft: '#545b57',
  line: '#d9d7cd',
  accent: '#0d5a4a',
  alert: '#9c2f1f',
};

/** Longer titles are set smaller, so that each fits two lines. */
const LONG_TITLE = 34;

/** Builds the card of a picture. What stands where is fixed: no text can move or cover anything. */
export function buildCard({ service, name, host, tagline, author, facts, stamp, ...rest }: Picture): Element {
  const title = rest.title || name;
  return box(
    { ...column, ...PICTURE_SIZE, backgroundColor: COLOURS.paper, padding: '54px 64px 48px', color: COLOURS.ink },
    [
      box({ ...row, justifyContent: 'space-between', alignItems: 'center', height: 48 }, [
        box({ ...row, alignItems: 'center', fontSize: 28, fontWeight: 700 }, [buildSign(), service]),
        ...(stamp ? [buildStamp(stamp)] : []),
      ]),
      box(
        {
          ...cut,
          fontSize: title.length > LONG_TITLE ? 56 : 70,
          fontWeight: 700,
          lineHeight: 1.14,
          marginTop: 46,
          lineClamp: 2,
        },
        [title],
      ),
      ...(host === null
        ? []
        : [box({ fontSize: 28, fontWeight: 700, marginTop: 14, color: COLOURS.accent, whiteSpace: 'nowrap' }, [host])]),
      box({ ...cut, fontSize: 31, lineHeight: 1.35, marginTop: 22, color: COLOURS.soft, lineClamp: 2 }, [tagline]),
      ...(author === null || tagline === ''
        ? []
        : [
            box({ ...cut, fontSize: 22, marginTop: 14, color: COLOURS.soft, lineClamp: 1 }, [
              `In the words of ${author}`,
            ]),
          ]),
      box(
        {
          ...row,
          position: 'absolute',
          left: 64,
          right: 64,
          bottom: 44,
          borderTop: `4px solid ${COLOURS.ink}`,
          paddingTop: 20,
        },
        facts.map(({ name, value }) =>
          box({ ...column, marginRight: 50 }, [
            box({ fontSize: 21, color: COLOURS.soft }, [name]),
            box({ fontSize: 29, fontWeight: 700, marginTop: 4, whiteSpace: 'nowrap' }, [value]),
          ]),
        ),
      ),
    ],
  );
}

const row = { display: 'flex', flexDirection: 'row' } as const;
const column = { display: 'flex', flexDirection: 'column' } as const;
const cut = { display: 'block', overflow: 'hidden', textOverflow: 'ellipsis', wordBreak: 'break-word' } as const;

function box(style: Record<string, string | number>, children: readonly Child[]): Element {
  return { type: 'div', key: null, props: { style: { display: 'flex', boxSizing: 'border-box', ...style }, children } };
}

/** The service's sign: a receipt. */
function buildSign(): Element {
  return box(
    {
      width: 34,
      height: 44,
      marginRight: 16,
      backgroundColor: COLOURS.accent,
      flexDirection: 'column',
      padding: '10px 7px',
    },
    [
      box({ height: 4, backgroundColor: COLOURS.paper }, []),
      box({ height: 4, width: 13, marginTop: 6, backgroundColor: COLOURS.paper }, []),
    ],
  );
}

/** Told apart without colour: filled where all routes are verified, framed where some are, dashed where no route is. */
function buildStamp({ words, extent }: NonNullable<Picture['stamp']>): Element {
  const frame = { fontSize: 26, borderRadius: 8, padding: '6px 18px' };
  if (extent === 'none') return box({ ...frame, color: COLOURS.soft, border: `3px dashed ${COLOURS.soft}` }, [words]);
  if (extent === 'danger') {
    return box({ ...frame, fontWeight: 700, color: COLOURS.card, backgroundColor: COLOURS.alert }, [words]);
  }
  const [color, backgroundColor] = extent === 'all' ? [COLOURS.card, COLOURS.accent] : [COLOURS.accent, COLOURS.paper];
  return box({ ...frame, fontWeight: 700, color, backgroundColor, border: `4px solid ${COLOURS.accent}` }, [words]);
}

/** Every font has these. What is missing may come in one piece with them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of it
const ASCII = /^[\x00-\x7f]+$/;

/**
 * Gives a picture with the characters of some texts taken out of its own, and white space closed up where they were.
 * Characters are what a reader takes for one.
 */
export function withoutCharacters(picture: Picture, missing: ReadonlySet<string>): Picture {
  const unknown = new Set(
    [...missing].flatMap((text) => listGraphemes(text)).filter((character) => !ASCII.test(character)),
  );
  const strip = (text: string) =>
    listGraphemes(text)
      .filter((character) => !unknown.has(character))
      .join('')
      .replace(/\s+/g, ' ')
      .trim();
  return {
    ...picture,
    service: strip(picture.service),
    title: strip(picture.title),
    tagline: strip(picture.tagline),
    author: picture.author === null ? null : strip(picture.author),
  };
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

function listGraphemes(text: string): string[] {
  return [...graphemes.segment(text)].map(({ segment }) => segment);
}
