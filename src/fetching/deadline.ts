/** Interval for checking whether the event loop is free, in milliseconds: at most and at least. */
const CHECK_MS = { most: 100, least: 5 };

/** The longest wait, as a multiple of the time limit. */
const MAX_STRETCH = 4;

/** Longest delay of a timer without the event loop being blocked, in milliseconds. */
const TIMER_TOLERANCE_MS = 20;

/**
 * Calls `onExpire` after `ms` milliseconds in which this process could listen. Time in which its own event loop was
 * blocked does not count against the other side. After four times `ms` it calls `onExpire` in any case, with
 * `wasHeldUp` true. Returns a function that cancels it. The time limits of undici and of `AbortSignal` would count all
 * time.
 */
export function startDeadline(ms: number, onExpire: (wasHeldUp: boolean) => void): () => void {
  const step = Math.min(Math.max(ms / 20, CHECK_MS.least), CHECK_MS.most);
  const began = performance.now();
  let listened = 0;
  let checkedAt = began;
  let timer: NodeJS.Timeout;
  function check(): void {
    const wait = Math.min(step, Math.max(0, ms - listened));
    timer = setTimeout(() => {
      const now = performance.now();
      const passed = now - checkedAt;
      checkedAt = now;
      // The event loop first handles what came during a block, so an answer that has arrived is still read.
      listened += passed - wait > TIMER_TOLERANCE_MS ? wait : passed;
      // Timers may fire a moment early.
      if (listened >= ms - 1 && passed - wait <= TIMER_TOLERANCE_MS) onExpire(false);
      else if (now - began >= MAX_STRETCH * ms) onExpire(true);
      else check();
    }, wait);
  }
  check();
  return () => clearTimeout(timer);
}
