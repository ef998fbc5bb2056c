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

/**
 * What people say who do not know the word for it, and behind the sign the words that APIs describe themselves with. They stand
 * for it in this direction alone: who asks for a weather forecast is not looking for umbrellas.
 */
const EVERYDAY = `
  showers rainy sunny sunshine storm stormy thunderstorm drizzle umbrella degrees hot cold warm freezing frost gust windy cloudy snowfall heatwave > weather forecast temperature wind rain
  house_number postcode > address geocode location coordinates
  nearby near_me around_me closest nearest > location place radius
  drive driving travel_time how_far kilometres miles > distance directions route
  inhabitant resident tenant schooling earnings neighbour suburb people_live > population demographics census income
  airline airport plane fly layover > flight airline airport
  stay overnight accommodation check_in_date > hotel booking
  train bus tram subway commute timetable > transit train schedule
  vacation trip getaway tourist sightseeing > travel trip
  public_holiday > holiday calendar
  what_time clock > timezone time
  junk unsolicited > spam
  newsletter mailing sender inbox outlook > email
  one_time_code > email inbox
  texting sms whatsapp > sms message phone
  dial caller > phone number carrier
  let_me_know remind reminder alert alarm page_me > notify notification send
  spider crawler sitemap off_limits > robots crawl
  login_attempt intruder hacker troublemaker > ip reputation abuse blacklist
  hacked stolen > breach password leak
  padlock encrypted > ssl certificate tls
  site_name > domain username availability
  registrant bought_the_domain since_when > whois registration domain
  subnetwork ip_range cidr netmask > subnet cidr network
  shop_system built_with powered_by cms > technology stack fingerprint
  competitor rival > competitor market
  gist key_points main_points nutshell longread boil_down > summary summarize
  grumpy polite friendly tone wording > rewrite text
  french spanish italian japanese chinese korean russian arabic dutch polish swedish foreign_language > translate language
  grammar spelling typo proofread > grammar check
  black_out blur mask > anonymize redact pii
  unhappy angry upset complaint satisfied feel > sentiment review opinion
  handwritten printed > ocr extract pdf document
  receipt invoice > invoice extract receipt
  interview spoken dictated voicemail lecture meeting subtitle caption > transcribe audio speech transcript
  read_aloud narrator audiobook > speech voice tts
  painting poster logo watercolor sketch wallpaper > image generate picture
  photograph camera snapshot > image photo analyze
  footage movie_clip animation > video generate
  tune melody instrumental soundtrack > music track
  dj mixing mixtape > music mix key
  thumbnail megabyte smaller > resize image compress
  looks_like visual top_to_bottom rendered > screenshot page
  printable paper a4 > pdf page
  sign_in log_in click menus fill_in > browser session automation
  teaser headline preview > metadata preview title
  blog subscribe > rss feed article
  ingredient cook cooking dish meal > recipe food
  calorie diet vitamin > nutrition food
  workout gym muscle > exercise fitness
  pill side_effect symptom doctor patient illness disease > drug medical health
  scientific journal scholarly > paper scholar research citation
  coder stack_overflow stacktrace exception > stackoverflow code github
  library pip installable module > package npm pypi
  licence license stars contributor > github repo repository
  snippet run_it execute > run code sandbox execute
  recall remember forget > memory store
  spreadsheet attachment share_file > file upload storage
  dice lottery raffle coin_toss > random number
  login_secret strong_password > password generate
  colour hue shade pantone > color convert
  statement rumour hoax true_or_false > fact verify claim
  bring_back mistake > undo reversible
  pitfall precaution > risk check
  overpriced unusual > norm typical benchmark
  embargo terrorist blacklisted_person > sanctions screening restricted
  employee payroll contractor staff > hr payroll hiring
  agreement clause lawyer sue attorney > contract legal
  lead prospect decision_maker > people company search
  search_volume google_rank > seo keyword
  advert campaign promote > marketing ads
  trap shady crook stranger > scam security honeypot
  permission drain allowance > approval allowance
  estate inheritance heir > portfolio balance value
  pending > status transaction
  back_then historical > historical price
  liquidated margin_call > liquidation
  strike expiry > options
  bookmaker wager > odds betting prediction market
  same_owner same_operator > wallet cluster related
  pound euro yen peso rupee > currency exchange rate
  share ticker nasdaq dow nyse > stock price quote
  ounce bullion > gold metal price
  mortgage repayment > loan interest calculator
  film cinema actor series episode imdb > movie tv film
  league team player season goal fixture > sport football match
  video_game gamer console steam > game
  funny laugh humor humour > joke meme
  inspiration motivational inspiring > quote
  puppy kitten pet breed > animal dog cat
  star_sign zodiac > horoscope astrology
  moon planet asteroid rocket nasa astronaut > space astronomy
  tremor quake seismic > earthquake
  smog pollution pollen breathe > air quality
  electricity emission kilowatt > energy carbon
  plate vin chassis vehicle > car vehicle
  parcel courier shipment > tracking shipping
  shopping deal discount bargain > product price shop
  dinner eat cafe > restaurant food
  concert gig festival > event ticket
  meaning define synonym thesaurus > dictionary definition word
  verse scripture prayer > bible quran
  equation solve arithmetic > math calculate
  graph plot diagram > chart
  quiz puzzle > trivia question
  capital flag > country
  college degree campus > university education
  novel isbn reading > book
  broadcast station > radio
  follower follow fan > followers following
  posted timeline > tweet post
  commented replied thread > replies comment
  moderator group forum > community members
  inflation gdp unemployment > economic indicator
  cocktail beer wine > drink
  holiday_rental landlord flat house apartment > real estate property rent
  lyric singer band album concert > song music artist
  vacancy employer resume cv > job
  baby kid child > children
  law parliament congress regulation > policy law regulation
  voucher coupon promo > discount coupon
  crypto_wallet ledger metamask > wallet address
  coin altcoin memecoin > token coin
  hack exploit cve > vulnerability security exploit
  outage offline unavailable > status uptime incident
  retire sunset end_of_life pull_the_plug > deprecation
  provider > provider
  dataset statistics figures > data statistics
  bytecode > decode abi
  gas_fee network_fee > gas
`;

let relatedByStem: ReadonlyMap<string, ReadonlySet<string>> | undefined;
let everydayByStem: ReadonlyMap<string, ReadonlySet<string>> | undefined;

/** Lists the stems related to a word or phrase of a request, given as its stems joined by underscores. */
export function listRelated(stems: string): readonly string[] {
  relatedByStem ??= buildRelated();
  return [...(relatedByStem.get(stems) ?? [])];
}

/** Lists the stems that an everyday word or phrase of a request, given as its stems joined by underscores, calls up. */
export function listCalledUp(stems: string): readonly string[] {
  everydayByStem ??= buildEveryday();
  return [...(everydayByStem.get(stems) ?? [])];
}

function buildEveryday(): Map<string, Set<string>> {
  const table = new Map<string, Set<string>>();
  for (const line of EVERYDAY.trim().split('\n')) {
    const [said = '', meant = ''] = line.split('>');
    const stems = meant.trim().split(' ').map(getStem);
    for (const phrase of said.trim().split(' ')) {
      const key = phrase.split('_').map(getStem).join('_');
      table.set(key, new Set([...(table.get(key) ?? []), ...stems]));
    }
  }
  return table;
}

function buildRelated(): Map<string, Set<string>> {
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
