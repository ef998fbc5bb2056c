import { CATEGORIES, type Category } from '../model/catalogue.ts';
import { isObject, type JsonObject } from '../model/json.ts';

/** Points of a word, by how clearly it indicates its category. */
const POINTS = { strong: 3, clear: 1.5, weak: 0.75 } as const;

/**
 * Words and phrases that indicate a category, each a regular expression. The first list that matches a word takes it.
 */
const WORDS: Readonly<Record<Category, Readonly<Partial<Record<keyof typeof POINTS, string>>>>> = {
  Verification: {
    strong: `
      verif(?:y|ies|ier|ication), validat(?:e|es|ion|or), kyc, kyb, aml, sanction(?:s|ed)?, ofac, fraud, scams?, phishing,
      attest(?:s|ation|ations)?, honeypots?, rug ?pulls?, fact ?check(?:s|ing|er)?, deliverab(?:le|ility), credentials?,
      disposable detection, ground truth, trust(?:worthiness)? scor(?:e|es|ing), risk scor(?:e|es|ing), risk level,
      pre ?flight, anomal(?:y|ies), sanity, (?:be )?undone, revers(?:ible|ibility), irreversible, safe action,
      due diligence, trust, reputation, malicious, malware, threats?, threat intelligence, breach(?:es)?, leaked, spam,
      virus(?:es)?, antivirus, safe browsing, plagiarism, authenticity, deepfakes?, ip reputation, blocklists?, blacklists?,
      vpn detection, exploits?, cves?, disposable, email validation, validity, flagging`,
    clear: `
      risks?, audits?, safety, screen(?:s|ing)?, compliance, security, identity, proofs?, signed proof, checks?, checklist,
      detection, claims?, flagged, vulnerabilit(?:y|ies)`,
  },
  Finance: {
    strong: `
      defi, dex(?:es)?, cash ?flow, balance sheets?, income statements?, dividends?, tickers?, ipos?, interest rates?,
      inflation, mortgages?, loans?, market ?cap, circulati(?:on|ng) supply,
      financial (?:data|statements?|markets?), commodit(?:y|ies), tax(?:es)?, swaps?, trad(?:e|es|ing|ers?), forex, fx,
      stocks?, equit(?:y|ies), yields?, liquidity, liquidations?, lending, candle(?:s|sticks?)?, ohlcv?, funding rates?,
      open interest, arbitrage, perps?, perpetuals?, futures, options chain, crypto(?:currency|currencies)?, nfts?,
      stablecoins?, tvl, altcoins?, pnl, polymarket, kalshi, prediction markets?, betting, exchange rates?, prepaid cards?,
      bank(?:ing)?, tokenomics, airdrops?, vesting, staking, portfolios?, coingecko, memecoins?, pump ?fun,
      gas (?:prices?|estimates?|fees?|oracle|tracker), smart money, whales?, netflow, usdjpy,
      xau, btc, eth price, coin ?prices?,
      token ?(?:prices?|supply|launch(?:es)?|balances?|holders?|holdings|metadata|ranking|contract|symbol|research),
      decentrali[sz]ed exchange, (?:asset|crypto(?:currency|currencies)?) exchange, bitcoins?, altcoin, stock market,
      vat(?: rates?)?, iban, edgar, 10 k, annual reports, etfs?, funds?, budgeting, money, invoices?, boletos?,
      credit (?:scores?|cards?), federal reserve, treasury, gdp, macro(?:economic)?, fiscal, analyst ratings,
      short interest, insider`,
    clear: `
      tokens?, coins?, wallets?, prices?, pricing, rates?, currenc(?:y|ies), markets?, financ(?:e|ial),
      invest(?:ing|ors?|ment)?, earnings, gas, stats on chain, transactions?, accounts?, bonds?, balances?, payments?, usd,
      bridge, economics, exchanges?, usdt, eth, sol, dollars?, ethereum, revenue, valuation, volatility, volume, trades`,
  },
  Intelligence: {
    strong: `
      llms?, translat(?:e|es|ion|or), grammar, spell ?check, language detection, text (?:analysis|similarity),
      keyword extraction, object detection, face detection, gpt(?: [0-9])?, openai, claude, gemini, grok, haiku, sonnet,
      chat(?:bot)?s?, (?:text|chat) completions?, completions, summar(?:y|ies|ise|ize|isation|ization), sentiment,
      brainstorm, rewrit(?:e|es|ing), explain(?:s|er)?, inference, reasoning, joke generation, deep research,
      ai synthesi[sz]ed, ai powered, ai answers?, ai agents?, intelligence, strateg(?:y|ies|ist|ic), playbooks?,
      consult(?:ant|ing), advis(?:or|ory|er), specialist, market intelligence,
      (?:planner|designer|navigator|architect|analyst|manager|researcher|creator|writer|assistant)s?,
      detects? (?:text )?language, text recognition, ocr, speech recognition, face recognition, emotions?, nlp,
      natural language, machine learning, neural, embeddings?, prompts?, image recognition, computer vision,
      paraphras(?:e|es|ing), toxicity, content moderation, classifiers?, text generation, text to text, model routing`,
    clear: `
      ai, agents?, analy(?:sis|se|ze|zer|tics|sts?), predict(?:s|ion|ions|ive)?, forecasting, insights?, signals?, models?,
      recommend(?:s|ation|ations)?, design(?:s|ing)?, plan(?:s|ning)?, creative, entit(?:y|ies), keywords?,
      classif(?:y|ies|ication), brief(?:ing)?, reports?, opportunit(?:y|ies)`,
  },
  Data: {
    strong: `
      weather, news, holidays?, tweets?, twitter, dns, whois, demographics?,
      geocod(?:e|es|ing), geo(?:location)?, look ?ups?, registr(?:y|ies), data ?sets?, publications?, pubmed, arxiv,
      articles?, records?, extract(?:s|ion|ed)?, profiles?, search(?:es)?, documentation, docs, ipfs, on ?chain data,
      flights?, sports? (?:scores|statistics), demographic, census, block (?:number|height|explorer), ens, rpc,
      ip addresse?s?, enrich(?:ment)?, gifs?, soccer, football, basketball, nba, leagues?, standings, matches, players?,
      movies?, recipes?, songs?, lyrics, books, airports?, hotels?, odds, events? calendar, music, albums?, artists?, radio,
      podcasts?, films?, television, tv, episodes?, anime, manga, dictionar(?:y|ies), thesaurus, synonyms?, bible, quran,
      verses?, horoscopes?, jokes?, trivia, facts, animals?, cats?, dogs?, birds, species, public transport, transit,
      transport(?:ation)?, trains?, buses, timetables?, departures, arrivals, airlines?, aircraft, aviation, vessels?,
      radar, satellites?, air quality, pollution, pollen, emissions, earthquakes?, tides?, temperature, humidity,
      precipitation, sunrise, sunset, astronomy, government, open data, elections?, parliament, legislati(?:on|ve), laws?,
      courts?, patents?, postal codes?, post ?codes?, coordinates, latitude, restaurants?, food, nutrition, ingredients,
      beers?, brewer(?:y|ies), cocktails?, coffee, wines?, drugs?, diseases?, covid, vaccin(?:e|es|ation), hospitals?,
      vacanc(?:y|ies), job (?:search|listings?|postings?|offers?), search jobs, job boards?, job titles?, employment,
      careers?, real estate, rentals?, games?, pokemon, tournaments?, teams, f1, cricket, baseball, hockey, tennis, golf,
      fixtures, fitness, workouts?, reddit, youtube, instagram, tiktok, linkedin, facebook, telegram, social media,
      hashtags?, followers, isbn, products? data, wikipedia, encyclop(?:a)?edia, museums?, artworks?, newspapers?,
      headlines?, rss, blogs?, papers?, citations?, statistical, characters, mountains?, parks, streets?, routing,
      geospatial, geographical, parcels?, shipping, shipments?, postage, couriers?, freight, tracking numbers?,
      tech(?:nology)? stacks?, technolog(?:y|ies) (?:used|look ?ups?)`,
    clear: `
      statistics, stats, metrics, maps?, domains?, historical, metadata, trends?, trending, location, population, directory,
      catalog(?:ue)?, posts?, feeds?, blocks?, cit(?:y|ies), countr(?:y|ies), zip ?codes?, addresses, schools?,
      universit(?:y|ies), vehicles?, cars, products, reviews,
      (?:famous|random|motivational|inspirational|movie|anime) quotes?, photos?, pictures?, videos?, channels?, comments,
      authors?, definitions?, languages, timetable, calendar, events?, stations?, places?, shops?, stores?,
      history of, archives?, databases?, community, knowledge`,
    weak: `
      data, index(?:er|es)?, compan(?:y|ies), history, fetch(?:es)?, retriev(?:e|es|al), list(?:s|ings?)?, content,
      filters?, results?, query, queries, info(?:rmation)?, get, returns?, find, details`,
  },
  Tools: {
    strong: `
      text to (?:image|video|speech), (?:image|video) (?:generat(?:e|ion|or)|create),
      (?:generat(?:e|es|ed|ing|ion)|creates?) (?:[a-z]+ ){0,2}(?:images?|videos?|avatars?|pictures?), scrap(?:e|es|er|ing),
      crawl(?:er|s|ing)?, qr(?: codes?)?, convert(?:s|er)?, conver(?:sion|sions), resiz(?:e|es|ing), compress(?:es|ion)?,
      shorten(?:s|er)?,
      screenshots?, upload(?:s|ed)?, hash(?:es|ing)?, passwords?, random, uuid, browser (?:session|automation), headless,
      render(?:s|ing)?, transcri(?:be|bes|ption), notif(?:y|ies|ication|ications), email notifications?,
      send(?:s|ing)? (?:an? )?(?:emails?|sms|messages?), sms, messaging, bar ?codes?, calculators?, generators?,
      thumbnails?, watermarks?, download(?:s|er)?, webhooks?, numbers? generator, inbox, mint(?:s|ing)?, echo, vote,
      pixels?, store (?:a )?(?:message|file)s?, run (?:python|code), sandbox, ui components?, templates?, utility,
      utilities, timezone, encod(?:e|es|ing), licen[cs]e keys?, widget, relay, ping, purchase, subscribe, tiers?, credits,
      signed url, temporary, tasks?, hire, workers?, protected (?:content|resource), premium endpoint, hello world, roadmap,
      developer (?:utility|tools?), playlists?, mix plan, anonymi[sz]e, auth, entropy, sha ?[0-9]+, pdf, test data, fake data,
      mock, placeholder, lorem, dummy, short(?:ened)? (?:links?|urls?), url shortener, pastebin, cloud storage,
      file sharing, file hosting, captures`,
    clear: `
      tools?, toolkit, generator, files?, images?, formats?, format, storage, submit, buy, register, session, demo, test,
      access, check job, jobs?, memory, add, service delivery, calculat(?:e|es|or)`,
  },
};

/** The lists of each category as patterns, with their points. */
const PATTERNS = new Map(
  CATEGORIES.map((name) => [
    name,
    (['strong', 'clear', 'weak'] as const).flatMap((strength) => {
      const words = WORDS[name][strength]?.trim().split(/,\s+/);
      return words ? [{ points: POINTS[strength], words: new RegExp(`\\b(${words.join('|')})\\b`, 'g') }] : [];
    }),
  ]),
);

/** Names of what people do to one another's posts, and of those who see them. */
const REACTIONS =
  '(?:likes|followers|subscribers|views|comments|retweets|reposts|upvotes|engagements?|reactions|impressions)';

/**
 * Phrases that mean something else than their words: rates of carriers are no interest rates, what a site is made with is
 * not checked, and who buys likes wants no data. Their words count for that category alone.
 */
const PHRASES: readonly (readonly [Category, RegExp])[] = [
  [
    'Data',
    /\b(?:shipping|freight|parcel|postage|courier|carrier|delivery) (?:rates?|prices?|pricing|quotes?|costs?)\b/g,
  ],
  [
    'Data',
    /\b(?:tech(?:nology|nologies)?(?: stacks?)?|cms|frameworks?) (?:detect(?:ion|or|s)?|fingerprint(?:s|ing)?|profil(?:er|es|ing)|analy[sz](?:er|is)|checker)\b/g,
  ],
  ['Data', /\bdetects? (?:the |which |what )?(?:[a-z]+ )?(?:tech(?:nology|nologies)?(?: stacks?)?|cms|frameworks?)\b/g],
  [
    'Tools',
    new RegExp(`\\b(?:buy|boost|grow|deliver|purchase|order|get)(?:s|ing)? (?:[a-z0-9]+ ){0,4}${REACTIONS}\\b`, 'g'),
  ],
  ['Tools', /\b(?:social(?: media)?|twitter|x|instagram|tiktok|youtube|farcaster) engagement(?: [a-z]+)?\b/g],
  [
    'Tools',
    /\b(?:like|repost|retweet|follow|upvote|comment on|reply to)s? (?:an?|the|any|your) (?:[a-z]+ ){0,2}(?:posts?|tweets?|accounts?|casts?|videos?|profiles?|users?)\b/g,
  ],
];

/** Sentences about how to pay for a call, and about its buyers: they say nothing of its purpose. */
const ABOUT_PAYING =
  /(?:accepts? usdc[^.|—]*|pay(?:ment)?s? (?:via|in|with|usdc)[^.|—]*|(?:after|with|requires?|x402) (?:x402 )?payment(?:s| verification)?|real x402 payment[^.|—]*|(?:for|by) ai agents?|ai agent apis?|for agents|token efficient|(?:id|access) tokens?|api tokens?|x402|usdc on \w+|mainnet|\$\s?[\d.]+(?: usdc)?|micro ?payments?)/g;

/** The texts of a listing. */
interface CategoryText {
  title: string;
  /** Empty if no source gives one. */
  tagline: string;
  description: string;
  tags: readonly string[];
  routes: readonly { path: string; description: string; output_schema: JsonObject | null }[];
}

export interface InferredCategory {
  category: Category;
  /** The points of each category. */
  scores: Record<string, number>;
}

/** Order of categories with the same points: the first one wins, and the narrower one comes first. */
const PREFERENCE: readonly Category[] = ['Verification', 'Finance', 'Intelligence', 'Data', 'Tools'];

/** Weight of each part of a listing: a word of its name, of its tags or of its line, and all of its routes together. */
const WEIGHTS = { title: 2.5, tag: 1.5, tagline: 1, description: 0.25, routes: 12 } as const;

/** Most points that each part gives to one category, so that a long text does not decide alone. */
const MOST = { title: 9, tag: 6, tagline: 6, description: 4 } as const;

/**
 * Lead that a category needs over the one on record: `times` as many points, and `more` points, which is what all
 * routes and the line together give.
 */
const MARGIN = { times: 2, more: 18 } as const;

/** Longest part of a route's description that counts, in UTF-16 units: descriptions begin with what the route does. */
const ROUTE_CHARACTERS = 160;

/** Points from which a route has a whole vote; with fewer it has less. */
const FULL_VOTE = 3;

/** Weight of a word of what a route returns, beside one of what is said about it. */
const RETURNED = 0.5;

/** Most of what a route returns that counts: how deep, how many fields, and how much of their text, in UTF-16 units. */
const RETURNED_DEPTH = 3;
const RETURNED_FIELDS = 40;
const RETURNED_CHARACTERS = 800;

/** Fewest points that say something. */
const LEAST_POINTS = 0.5;

/**
 * Infers the category of a listing whose sources name none, from words of its name, tags, line and routes; every route
 * has one vote, which its words share. `recorded` is the category on record: it stays unless another one wins by a clear
 * margin.
 */
export function inferCategory(text: CategoryText, recorded?: Category): InferredCategory {
  const scores = scoreCategories(text);
  const best = PREFERENCE.reduce((one, other) => ((scores[other] ?? 0) > (scores[one] ?? 0) ? other : one), 'Tools');
  const winner = (scores[best] ?? 0) < LEAST_POINTS ? 'Tools' : best;
  if (recorded === undefined || winner === recorded) return { category: winner, scores };
  const [points, before] = [scores[winner] ?? 0, scores[recorded] ?? 0];
  const isClear = points >= before * MARGIN.times && points >= before + MARGIN.more;
  return { category: isClear ? winner : recorded, scores };
}

function scoreCategories({ title, tagline, description, tags, routes }: CategoryText): Record<Category, number> {
  const scores: Record<Category, number> = { Verification: 0, Finance: 0, Intelligence: 0, Data: 0, Tools: 0 };
  const add = (text: string, part: keyof typeof MOST) => {
    const counts = countWords(text);
    for (const name of CATEGORIES) scores[name] += Math.min(counts[name] * WEIGHTS[part], MOST[part]);
  };
  add(title, 'title');
  add(tags.join(' | '), 'tag');
  add(tagline, 'tagline');
  add(description, 'description');
  for (const { path, description: words, output_schema } of routes) {
    const counts = countWords(`${path} | ${words.slice(0, ROUTE_CHARACTERS)}`);
    const returned = countWords(output_schema === null ? '' : listReturned(output_schema));
    for (const name of CATEGORIES) counts[name] += returned[name] * RETURNED;
    const sum = Math.max(
      CATEGORIES.reduce((total, name) => total + counts[name], 0),
      FULL_VOTE,
    );
    for (const name of CATEGORIES) scores[name] += (counts[name] / sum) * (WEIGHTS.routes / routes.length);
  }
  for (const name of CATEGORIES) scores[name] = Math.round(scores[name] * 10) / 10;
  return scores;
}

/** Lists the names of the fields that a route returns, by schema or example, and what is said of them. */
function listReturned(schema: JsonObject): string {
  return listFields(schema, RETURNED_DEPTH).slice(0, RETURNED_FIELDS).join(' | ').slice(0, RETURNED_CHARACTERS);
}

function listFields(schema: JsonObject, depth: number): string[] {
  const { properties, items, examples } = schema;
  const example = Array.isArray(examples) ? examples[0] : undefined;
  if (depth === 0) return [];
  if (isObject(items)) return listFields(items, depth);
  if (!isObject(properties)) return listKeys(example, depth);
  return Object.entries(properties).flatMap(([name, field]) => {
    if (!isObject(field)) return [name];
    const text = typeof field.description === 'string' ? field.description : '';
    return [`${name} ${text}`, ...listFields(field, depth - 1)];
  });
}

function listKeys(example: unknown, depth: number): string[] {
  if (Array.isArray(example)) return listKeys(example[0], depth);
  if (depth === 0 || !isObject(example)) return [];
  return Object.entries(example).flatMap(([name, value]) => [name, ...listKeys(value, depth - 1)]);
}

/** Counts the words of each category, each by its weight; a word counts for the first pattern that has it. */
function countWords(text: string): Record<Category, number> {
  const counts: Record<Category, number> = { Verification: 0, Finance: 0, Intelligence: 0, Data: 0, Tools: 0 };
  let plain = splitIdentifiers(text).replace(ABOUT_PAYING, ' ');
  for (const [name, phrase] of PHRASES) {
    plain = plain.replace(phrase, () => {
      counts[name] += POINTS.strong;
      return ' | ';
    });
  }
  for (const name of PREFERENCE) {
    let left = plain;
    for (const { points, words } of PATTERNS.get(name) ?? []) {
      left = left.replace(words, () => {
        counts[name] += points;
        return ' ';
      });
    }
  }
  return counts;
}

/** Finds the category that a source names, in any case. */
export function findCategory(text: string): Category | undefined {
  return CATEGORIES.find((name) => name.toLowerCase() === text.trim().toLowerCase());
}

function splitIdentifiers(text: string): string {
  return text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[/_\-:{}’']+/g, ' ')
    .replace(/ {2,}/g, ' ')
    .toLowerCase();
}
