/** How often it is looked whether we can listen, in milliseconds, at most and at least. */
const LOOK_MS = { most: 100, least: 5 };

/** As many times as long is waited at most. */
const PATIENCE = 4;

/** A timer may be so late, in milliseconds, without anything having been in its way. */
const PUNCTUAL_MS = 20;

/**
 * Calls `onExpire` after `ms` milliseconds in which this process could listen: time in which its event loop was held up
 * is the other side's no more than ours. When that does not come about within four times the time, it is called all the
 * same, with `wasHeldUp` true. Returns the function that stops it. The time limits of undici and of `AbortSignal` count
 * all time alike.
 */
export function startDeadline(ms: number, onExpire: (wasHeldUp: boolean) => void): () => void {
  const step = Math.min(Math.max(ms / 20, LOOK_MS.least), LOOK_MS.most);
  const began = performance.now();
  let listened = 0;
  let looked = began;
  let timer: NodeJS.Timeout;
  function look(): void {
    const wait = Math.min(step, Math.max(0, ms - listened));
    timer = setTimeout(() => {
      const now = performance.now();
      const passed = now - looked;
      looked = now;
      // After a hold-up the loop first takes up what came meanwhile, so an answer that is there by now is read.
      listened += passed - wait > PUNCTUAL_MS ? wait : passed;
      // Timers may fire a moment early.
      if (listened >= ms - 1 && passed - wait <= PUNCTUAL_MS) onExpire(false);
      else if (now - began >= PATIENCE * ms) onExpire(true);
      else look();
    }, wait);
  }
  look();
  return () => clearTimeout(timer);
}
