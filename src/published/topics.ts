import type { Listing } from '../model/listing.ts';

/** Most topic words of a listing, and the number of characters of its longer texts that are read for them. */
const TOPIC_COUNT = 32;
const READ_CHARACTERS = 600;

/** Words that nearly every listing of payable APIs has, and words without meaning. */
const COMMON_WORDS = new Set(
  `about access across after agent agents all also and any api apis app are available base based before built but call
  calls can com could data does each easy endpoint endpoints every fast first for free from full get gets given gives has have
  her his how http https into its just latest like make more most need new not now off one only other our out over paid pay
  payment payments per platform post price provides real request requests response result results return returned returns
  server service services should simple single some support supports than that the their them then there these they this
  through time tool tools two use used user users uses using usdc via was way web were what when where which while who will
  with within without www x402 you your`.split(/\s+/),
);

/** Nearly every text is ASCII, which is split into words several times faster. */
const ASCII = /^[\0-\x7f]*$/;
const ASCII_WORDS = /[a-z0-9]{3,}/g;
const WORDS = /[\p{L}\p{N}]{3,}/gu;

/**
 * Lists the words that say what a listing is about, from its title, tagline, description and routes; the most telling first.
 * Lower case, each once, at least three letters; a plain plural counts as its singular.
 */
export function listTopics({ title, tagline, description, routes }: Listing): string[] {
  const topics = new Set<string>();
  const texts = [title, tagline, description.slice(0, READ_CHARACTERS), ...routes.slice(0, 8).map(({ path }) => path)];
  for (const text of texts) {
    const lower = text.toLowerCase();
    for (const [word] of lower.matchAll(ASCII.test(lower) ? ASCII_WORDS : WORDS)) {
      const topic = getSingular(word);
      if (COMMON_WORDS.has(word) || COMMON_WORDS.has(topic) || /^\d+$/.test(topic)) continue;
      topics.add(topic);
      if (topics.size === TOPIC_COUNT) return [...topics];
    }
  }
  return [...topics];
}

function getSingular(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.length > 4 && /[^su]s$/.test(word) ? word.slice(0, -1) : word;
}
