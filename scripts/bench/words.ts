/** Words that synthetic listings are written with: as in real text, a few are in nearly all of them and most in hardly any. */
const COMMON =
  `data price api token market search wallet score report list history image text chain news risk check trend
  address analysis summary daily live result company domain email weather stock video flight map route address balance
  volume forecast rating review profile social signal audio language document page record index alert ranking`.split(
    /\s+/,
  );

const SYLLABLES = 'ba co da fe gi ha lo ma ne ori pa qui ra sto ta ul vi wen xo zan kel mor tin dra sel'.split(' ');

/** How many different words there are; those after the common ones are made up. */
const WORDS = 20_000;

/** Picks a word by Zipf's law: that of rank n comes about once for every n times that the first comes. */
export function pickWord(random: () => number): string {
  const rank = Math.floor(WORDS ** random()) - 1;
  return COMMON[rank] ?? buildWord(rank);
}

/** Builds the made-up word of a rank; each rank has its own. */
function buildWord(rank: number): string {
  let word = '';
  for (let left = rank; left > 0; left = Math.floor(left / SYLLABLES.length)) {
    word += SYLLABLES[left % SYLLABLES.length];
  }
  return word;
}
