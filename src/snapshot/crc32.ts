/** The polynomial of CRC-32, bits reversed. */
const POLYNOMIAL = 0xedb88320;

/** x^(2^n) modulo the polynomial, for as many n as lengths have bits. */
const SQUARES = listSquares();

/**
 * Gives the CRC-32 of two byte strings joined, from the check sum of each and the length of the second: the first sum is
 * carried over that many zero bytes by multiplying with x^(8·length) modulo the polynomial, which takes log(length) steps.
 */
export function combineCrc32(first: number, second: number, secondLength: number): number {
  let carried = first;
  for (let [rest, at] = [secondLength, 3]; rest > 0; rest = Math.floor(rest / 2), at += 1) {
    if (rest % 2 === 1) carried = multiplyModulo(SQUARES[at] ?? 0, carried);
  }
  return (carried ^ second) >>> 0;
}

function listSquares(): number[] {
  const squares = [0x40000000];
  while (squares.length < 56) {
    const last = squares.at(-1) ?? 0;
    squares.push(multiplyModulo(last, last));
  }
  return squares;
}

/** Product of two polynomials over GF(2) modulo the CRC polynomial, in reversed bit order. */
function multiplyModulo(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) !== 0 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1;
  }
  return product >>> 0;
}
