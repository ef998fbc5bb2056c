import { CATEGORIES, type Category } from '../model/catalogue.ts';

/** Words that indicate a category, as whole words. `Tools` is the category when no other is indicated. */
const WORDS: Readonly<Record<Exclude<Category, 'Tools'>, RegExp>> = {
  Finance:
    /\b(defi|dex(es)?|swaps?|tokens?|trad(e|es|ing|ers?)|price(s|feed)?|prices?|market(s|cap)?|portfolio|wallets?|stocks?|equit(y|ies)|forex|yields?|liquidity|lending|bonds?|treasur(y|ies)|candles?|ohlc|funding|arbitrage|perps?|futures|options|crypto|nfts?|invest(ing|ors?|ment)?|financ(e|ial)|earnings|tvl|gas)\b/g,
  Intelligence:
    /\b(llms?|gpt[\w-]*|claude|gemini|ai|agents?|chat|completions?|embeddings?|summar(y|ies|ise|ize|isation|ization)|sentiment|analy(sis|se|ze|tics|sts?)|predict(s|ion|ions|ive)?|forecasts?|insights?|signals?|inference|models?|generat(e|es|ion|ive)|classif(y|ies|ication)|research|reasoning|intelligence|translat(e|es|ion))\b/g,
  Verification:
    /\b(verif(y|ies|ied|ication)|kyc|kyb|aml|sanctions?|fraud|scams?|phishing|risk|audits?|attest(s|ation|ations)?|credential(s)?|identity|reputation|trust|compliance|screen(s|ing)?|validat(e|es|ion|or)|proofs?|honeypots?|rug(pull)?s?|safety)\b/g,
  Data: /\b(data(set|sets|base)?|search|lookup|records?|registr(y|ies)|weather|news|scrap(e|es|er|ing)|crawl(er|s)?|index(er|es)?|blocks?|balances?|transactions?|profiles?|tweets?|posts?|feeds?|statistics|stats|geo(location|coding)?|maps?|whois|dns|domains?|compan(y|ies)|sports?|flights?|holidays?|history|historical|rpc)\b/g,
};

/** Which category wins when two have the same score: the narrower one comes first. */
const PREFERENCE: readonly Exclude<Category, 'Tools'>[] = ['Verification', 'Finance', 'Intelligence', 'Data'];

/** The texts of a listing. A word found in the title or the tagline counts three times. */
export interface CategoryText {
  title: string;
  tagline: string;
  description: string;
  routes: readonly string[];
}

export interface InferredCategory {
  category: Category;
  /** The points of each category. */
  scores: Record<string, number>;
}

/**
 * Infers the category of a listing whose source names none. A category needs at least two points. With equal points the
 * narrower category wins.
 */
export function inferCategory({ title, tagline, description, routes }: CategoryText): InferredCategory {
  const headline = splitIdentifiers(`${title} ${tagline}`);
  const body = splitIdentifiers(`${description} ${routes.join(' ')}`);
  const scores: Record<string, number> = {};
  let best: Category = 'Tools';
  for (const name of PREFERENCE) {
    const points = countWords(headline, WORDS[name]) * 3 + Math.min(countWords(body, WORDS[name]), 30);
    scores[name] = points;
    if (points >= 2 && points > (scores[best] ?? 0)) best = name;
  }
  return { category: best, scores };
}

/** Finds the category that a source names, in any case. */
export function findCategory(text: string): Category | undefined {
  return CATEGORIES.find((name) => name.toLowerCase() === text.trim().toLowerCase());
}

function splitIdentifiers(text: string): string {
  return text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[/_\-.:{}]+/g, ' ')
    .toLowerCase();
}

function countWords(text: string, words: RegExp): number {
  return text.match(words)?.length ?? 0;
}
