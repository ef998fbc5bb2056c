import { getStem } from './words.ts';

/**
 * Words that payable APIs and those who look for them use for the same thing, one group a line. Each word of a group stands,
 * with less weight, for the others; what is joined by underscores is a phrase of a request that calls up the group.
 */
const GROUPS = `
  scrape scraper scraping crawl crawler extract fetch extraction
  webpage page website site html url
  url link
  markdown text readable
  screenshot capture snapshot screengrab picture_of_a screen_shot
  browser headless puppeteer playwright selenium devtools cdp chromium
  ocr scan scanned recognise recognize
  pdf document
  transcribe transcription transcript stt dictation speech_to_text audio_to_text recording
  tts text_to_speech voice speech synthesize narrate
  audio sound voice speech recording podcast mp3
  image picture photo photograph img jpeg jpg png
  illustration draw art artwork avatar image
  video clip movie film animation sora
  generate create make produce generator creator maker
  resize scale shrink crop thumbnail compress
  convert transform turn format change conversion
  summarize summarise summary tldr digest brief condense
  rewrite paraphrase reword rephrase
  translate translation translator localization language
  llm language_model gpt chatgpt openai claude completion chat inference prompt
  chatbot chat assistant conversation
  ai model llm
  sentiment mood opinion tone emotion feeling
  keyword tag label topic
  anonymize anonymise anonymous redact pii personal_information personal_data personal
  embedding vector semantic similarity
  memory remember recall
  sandbox execute run_code code_execution python interpreter
  email mail inbox mailbox e_mail
  disposable temporary throwaway burner tempmail temp
  send notify notification deliver message
  deliverable mx smtp valid
  verify check validate confirm verification validation validator
  fact claim truth factual fact_check
  undo reverse revert reversible restore recover irreversible
  risk danger dangerous safety safe security
  malicious phishing scam fraud suspicious harmful
  honeypot rugpull rug scam
  sanction sanctions ofac sdn watchlist screening restricted
  kyc aml identity compliance know_your_customer anti_money_laundering
  whois rdap registration registrar
  dns nameserver record mx cname txt
  ssl tls certificate https
  ip asn address_range geoip
  blacklist blocklist reputation
  breach leak pwned leaked compromised
  vulnerability cve exploit security
  dependency package library npm pypi
  tech technology stack framework fingerprint
  rss feed atom
  json schema structured jsonld
  weather forecast temperature rain snow climate meteo humidity wind
  geocode geocoding coordinates latitude longitude lat lon lng geolocation location place
  map address street place
  holiday holidays bank_holiday calendar
  timezone time_zone time local
  currency forex fx exchange_rate dollar euro rate
  stock equity share ticker
  gold metal commodity xau
  price quote cost value rate pricing
  crypto cryptocurrency coin token bitcoin
  bitcoin btc
  ethereum eth ether
  solana sol spl
  token coin erc20 asset
  contract token smart_contract
  wallet address account
  owner holder holders own owns
  who_owns identity label entity counterparties
  portfolio holdings balance worth net_worth
  balance holdings balances
  nft collectible collection
  mint minting
  swap trade exchange dex
  dex uniswap pool liquidity decentralized_exchange
  bridge crosschain cross_chain another_chain another_blockchain
  chain blockchain network onchain on_chain
  rpc node jsonrpc
  gas fee fees gwei
  yield apy apr staking farming interest returns lending
  tvl liquidity
  whale large big
  smart_money whale
  mev sandwich frontrun front_run
  funding perp perpetual futures derivatives
  candle candlestick ohlcv ohlc chart kline
  unlock vesting unlocks cliff
  stablecoin usdt usdc peg depeg
  airdrop drop distribution
  tokenomics supply incentive distribution
  abi calldata decode
  simulate simulation dry_run
  polymarket kalshi prediction_market odds bet betting
  prediction forecast
  sport sports football soccer basketball nba nfl betting
  arbitrage spread
  news headline headlines article
  trend trending popular hot
  twitter tweet tweets x_posts post
  tweet retweet repost
  follower followers following
  profile people person user
  social media
  search find lookup query discover
  paper papers research arxiv scholar publication literature study
  medical health medicine pubmed clinical
  github repository repo code
  docs documentation manual reference
  hash sha256 md5 checksum
  random entropy rng randomness
  password secret passphrase
  qr qrcode barcode
  shorten shortener short
  gif gifs animated sticker
  meme memes
  music song songs track playlist
  job jobs task freelance gig work
  hire recruit recruiter recruiting employee staff hr
  human person worker
  lawyer legal attorney law
  tax taxes
  accounting bookkeeping accountant bookkeeper finance
  marketing seo campaign ads advertising
  demographics census population household income neighborhood neighbourhood zip
  salary pay wage compensation
  benchmark norm typical plausible realistic
  incident outage postmortem rca
  uptime status availability reliability latency
  file upload storage download hosting store
  ipfs cid
  card debit prepaid visa
  component components ui react
  phone telephone number carrier
  service services provider marketplace directory
`;

let byStem: ReadonlyMap<string, ReadonlySet<string>> | undefined;

/** Lists the stems related to a word or phrase of a request, given as its stems joined by underscores. */
export function listRelated(stems: string): readonly string[] {
  byStem ??= buildTable();
  return [...(byStem.get(stems) ?? [])];
}

function buildTable(): Map<string, Set<string>> {
  const table = new Map<string, Set<string>>();
  for (const line of GROUPS.trim().split('\n')) {
    const members = line.trim().split(' ');
    const stems = members.filter((member) => !member.includes('_')).map(getStem);
    for (const member of members) {
      const key = member.split('_').map(getStem).join('_');
      const related = table.get(key) ?? new Set();
      for (const stem of stems) if (stem !== key) related.add(stem);
      table.set(key, related);
    }
  }
  return table;
}
