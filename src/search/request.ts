import { STOP_WORDS } from './stop-words.ts';
import { readSearchText } from './suggestions.ts';
import { removePlatform } from './terms.ts';
import { getStem, listWords, removeContractions } from './words.ts';

/** A word of a request, and its weight: 1 for a plain one. */
export interface AskedWord {
  readonly word: string;
  readonly stem: string;
  readonly weight: number;
  /** True if it reads like a filter, such as "verified". A listing without it still answers the request. */
  readonly isLesser: boolean;
}

/** Longest request that is read, in UTF-16 units after normalisation. */
const TEXT_MAX = 2000;

/** Weights of words by their place and form in the request. */
const WEIGHTS = {
  /** In a sentence that asks for nothing, in a request with other sentences: "I'm planning a party." */
  background: 0.5,
  /** Between quotation marks, or in an address: a value to call with rather than what is called. */
  quoted: 0.4,
  /** With a digit in it: an amount, a date, an identifier. */
  number: 0.5,
  /** A word that people ask with: "find", "provide", "details". */
  asking: 0.5,
  /** A word that reads like a filter: "cheapest", "on Solana". */
  lesser: 0.3,
};

/** Words that people use in any request. */
const ASKING: ReadonlySet<string> = new Set(
  `able additionally also application apps assist assistance available curious currently detail details fetch find first
  furthermore hello help hey include including information interested just know lastly like list look looking make moreover
  need plan planning provide really recommend retrieve search service show specific suggest sure tool trying using want
  wanted wondering`
    .split(/\s+/)
    .map(getStem),
);

/** Matches a sentence that asks for something, rather than one that gives a reason. */
const ASKS = new RegExp(
  [
    /\b(?:can|could|would|will) (?:you|i|we)\b/,
    /\bplease\b/,
    /\b(?:i|we) (?:also )?(?:need|want|would|wish)\b/,
    /\bi'd (?:also )?like\b/,
    /\b(?:assist|fetch|find|get|give|help|let|provide|send|show|tell)\b/,
    /\b(?:how|what|when|where|which|who)\b/,
    /\b(?:is|are) there\b/,
    /\?\s*$/,
    /^\s*(?:additionally|also|finally|furthermore|lastly|moreover)\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);

/** Quoted text or an address. Each is split off as a part of its own. */
const QUOTED = /("[^"]*"|“[^”]*”|(?<!\w)'[^'\s][^']*'(?!\w)|\S{1,64}@\S+|\bhttps?:\S+|\bwww\.\S+)/;

/** A possible host or registered domain. */
const HOST = /^[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){1,8}$/i;

/** A request in words. */
export interface ReadRequest {
  /** Its telling words in order, each once; all words if none is telling. */
  readonly asked: readonly AskedWord[];
  /** The stems of all its words in their order. */
  readonly stems: readonly string[];
}

/** Reads a request. A repeated word weighs more. Prices are left out if there is anything else. */
export function readRequest(request: string): ReadRequest {
  // Normalisation turns some characters into whole phrases, so the text is cut after it.
  const whole = request.normalize('NFKC').slice(0, TEXT_MAX);
  const { text: rest, lesser } = readSearchText(whole);
  const text = rest === '' ? whole : rest;
  const telling = listAsked(text, lesser, (word) => !STOP_WORDS.has(word));
  return {
    asked: telling.length > 0 ? telling : listAsked(text, lesser, () => true),
    stems: listWords(text).map(getStem),
  };
}

function listAsked(text: string, lesser: ReadonlySet<string>, isTelling: (word: string) => boolean): AskedWord[] {
  const asked = new Map<string, { word: string; stem: string; sum: number }>();
  for (const { token, weight } of listTokens(text)) {
    // Listings are found by their hosts without the ending.
    const name = HOST.test(token) ? removePlatform(token.toLowerCase()) : token;
    for (const word of listWords(removeContractions(name)).filter(isTelling)) {
      const stem = getStem(word);
      const entry = asked.get(stem) ?? { word, stem, sum: 0 };
      entry.sum += weight;
      asked.set(stem, entry);
    }
  }
  return [...asked.values()].map(({ word, stem, sum }) => {
    const isLesser = lesser.has(word);
    const share = (ASKING.has(stem) ? WEIGHTS.asking : 1) * (isLesser ? WEIGHTS.lesser : 1);
    return { word, stem, weight: Math.sqrt(sum) * share, isLesser };
  });
}

/** Lists the tokens between blanks, each weighted by its sentence, by quotation and by digits. */
function listTokens(text: string): { token: string; weight: number }[] {
  const sentences = text.split(/(?<=[.?!])\s+|\n+/).map((words) => ({ words, isAsking: ASKS.test(words) }));
  const asksAtAll = sentences.some(({ isAsking }) => isAsking);
  const parts = sentences.flatMap(({ words, isAsking }) => {
    const weight = asksAtAll && !isAsking ? WEIGHTS.background : 1;
    return words.split(QUOTED).map((part, at) => ({ part, weight: at % 2 === 1 ? weight * WEIGHTS.quoted : weight }));
  });
  return parts.flatMap(({ part, weight }) =>
    part.split(/\s+/).map((token) => ({ token, weight: /\d/.test(token) ? weight * WEIGHTS.number : weight })),
  );
}
